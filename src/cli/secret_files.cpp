#include "cli/secret_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include <holdfast/error.hpp>
#include "recovery/private_content.hpp"

namespace holdfast::cli {

namespace {

constexpr const char* of_bindings = ".bind";

bool could_be_secret(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find('/') == name.npos &&
         name.find('\0') == name.npos && !name.ends_with(of_bindings);
}

/// No secret of such a name is configured: there is nothing, or a folder, or cannot be a file.
bool is_absent(int trouble) {
  return trouble == ENOENT || trouble == EISDIR || trouble == ENOTDIR || trouble == ENAMETOOLONG;
}

}  // namespace

std::optional<std::string> content_of(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string content;
  std::array<char, 4'096> piece;
  ssize_t count = 0;
  while ((count = ::read(file, piece.data(), piece.size())) != 0) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    content.append(piece.data(), static_cast<std::size_t>(count));
  }
  const int trouble = count < 0 ? errno : 0;
  ::close(file);
  errno = trouble;
  if (trouble != 0) return {};
  return content;
}

std::string without_line_end(std::string text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

http::Binding binding_beside(const std::filesystem::path& path) {
  // Without its folder: whoever enqueues is told this name.
  const auto source = path.filename().string() + of_bindings;
  const auto file = path.string() + of_bindings;
  if (::access(file.c_str(), F_OK) != 0 && errno == ENOENT) return {.source = source};
  return http::parse_binding(read_trusted_file(file, source), source);
}

std::optional<http::Secret> secret_in(const std::filesystem::path& folder,
                                      const std::string& name) {
  if (!could_be_secret(name)) return {};
  auto content = content_of(folder / name);
  const int trouble = content ? 0 : errno;
  if (is_absent(trouble)) {
    // Of a folder that is away, for instance because it was unmounted, nothing is known.
    if (std::filesystem::is_directory(folder)) return {};
    throw Error{"the folder of secrets is not there"};  // without its name, which callers may see
  }
  if (!content) throw std::system_error{trouble, std::generic_category()};
  auto secret = without_line_end(std::move(*content));
  if (secret.empty()) throw Error{"its file is empty"};
  return http::Secret{std::move(secret), binding_beside(folder / name)};
}

std::vector<std::string> unbound_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code unknown;
  for (const auto& entry : std::filesystem::directory_iterator{folder, unknown}) {
    auto name = entry.path().filename().string();
    if (could_be_secret(name) && entry.is_regular_file(unknown) &&
        !std::filesystem::exists(entry.path().string() + of_bindings, unknown))
      names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace holdfast::cli
