#include "engines/filesystem/side_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "engines/objects/digest.hpp"

namespace holdfast::filesystem {

namespace {

constexpr std::string_view side_end = ".sum";
constexpr std::string_view mark_end = ".plain";
constexpr std::string_view begin = "holdfast-part 1 ";
constexpr std::size_t longest_side = 200;
constexpr std::size_t digits_of_sum = 64;

std::string text_of(const Side& side) {
  return fmt::format("{}{} {} {}\n", begin, side.sha256, side.bytes, side.changed);
}

template <class Number>
bool take_number(std::string_view& text, Number& number) {
  auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + (end != text.end()));
  return true;
}

std::optional<Side> parse_side(std::string_view text) {
  Side side;
  if (!text.starts_with(begin) || text.size() < begin.size() + digits_of_sum + 1) return {};
  side.sha256 = text.substr(begin.size(), digits_of_sum);
  auto rest = text.substr(begin.size() + digits_of_sum + 1);
  if (!take_number(rest, side.bytes) || !take_number(rest, side.changed)) return {};
  // One that is not whole would be shorter, and so would one with a number that was cut off.
  if (text_of(side) != text) return {};
  return side;
}

std::string name_of(const SideName& side) {
  return fmt::format(".{}.{}{}", side.blob, side.file, side_end);
}

using Candidates = std::vector<std::pair<std::string, Side>>;

/// Which of several is of this content.
std::string choose(const std::string& path, const Candidates& candidates) {
  if (candidates.size() == 1) return candidates.front().first;
  auto file = open_regular(path, O_RDONLY);
  if (!file) return {};
  auto sum = sha256_of(file, path);
  for (const auto& [side, says] : candidates)
    if (says.sha256 == sum) return side;
  return {};
}

}  // namespace

std::optional<SideName> parse_side_name(std::string_view name) {
  if (name.size() <= side_end.size() || !name.ends_with(side_end)) return {};
  auto dot = name.rfind('.', name.size() - side_end.size() - 1);
  if (dot == name.npos || dot < 2) return {};
  SideName side{std::string{name.substr(1, dot - 1)}};
  auto number = name.substr(dot + 1);
  if (!take_number(number, side.file) || name_of(side) != name) return {};
  return side;
}

std::string side_path(const std::string& path, ino_t file) {
  auto slash = path.rfind('/');
  return path.substr(0, slash + 1) + name_of({path.substr(slash + 1), file});
}

std::string mark_path(const std::string& path) {
  auto slash = path.rfind('/');
  return fmt::format("{}.{}{}", path.substr(0, slash + 1), path.substr(slash + 1), mark_end);
}

std::optional<std::string> parse_mark_name(std::string_view name) {
  if (!name.starts_with('.') || name.size() <= mark_end.size() + 1 || !name.ends_with(mark_end))
    return {};
  return std::string{name.substr(1, name.size() - 1 - mark_end.size())};
}

std::optional<Side> read_side(const std::string& path) {
  auto file = open_regular(path, O_RDONLY);
  if (!file) return {};
  std::string text(longest_side, '\0');
  text.resize(read_some(file, text, path));
  return parse_side(text);
}

void write_side(const std::string& path, const Side& side, FilesFor whom) {
  // What is there already was left by one whose file had the same number, and is gone.
  ::unlink(path.c_str());
  auto file = create_file(path, whom);
  write_all(file, text_of(side), path);
  sync_file(file, path);
}

std::map<std::string, std::string> find_sides(const std::string& folder) {
  std::map<std::string, std::vector<std::string>> sides;
  std::vector<std::string> blobs;
  for (auto& name : names_in(folder)) {
    if (auto side = parse_side_name(name))
      sides[side->blob].push_back(fmt::format("{}/{}", folder, name));
    else if (!name.starts_with('.'))
      blobs.push_back(std::move(name));
  }
  std::map<std::string, std::string> found;
  for (const auto& blob : blobs) {
    auto beside_it = sides.find(blob);
    if (beside_it == sides.end()) continue;
    auto path = fmt::format("{}/{}", folder, blob);
    auto status = status_of(path);
    auto own = side_path(path, status.st_ino);
    Candidates candidates;
    for (const auto& side : beside_it->second)
      if (auto says = read_side(side); says && std::cmp_equal(says->bytes, status.st_size))
        candidates.emplace_back(side, *says);
    if (candidates.empty() || read_side(own)) continue;
    auto chosen = choose(path, candidates);
    if (chosen.empty()) continue;
    // The old name stays until it is swept: it may be that of a writer which is about to link.
    ::unlink(own.c_str());
    bool named = ::link(chosen.c_str(), own.c_str()) == 0;
    found[blob] = named ? own : chosen;
  }
  return found;
}

std::string sha256_of(const FileDescriptor& file, const std::string& path) {
  auto sum = objects::Digest::sha256();
  read_rest(file, path, [&](std::string_view piece) { sum.add(piece); });
  return objects::hex(sum.take());
}

}  // namespace holdfast::filesystem
