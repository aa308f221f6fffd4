#include "engines/filesystem/sweep.hpp"

#include <unistd.h>

#include <set>

#include <fmt/format.h>

#include "engines/filesystem/side_file.hpp"

namespace holdfast::filesystem {

namespace {

std::string within(const std::string& root, const std::string& inside) {
  return inside.empty() ? root : fmt::format("{}/{}", root, inside);
}

/// The numbers of files that may become blobs yet.
std::set<ino_t> files_being_written(const std::string& root) {
  std::set<ino_t> files;
  for (const auto& name : names_in(root))
    if (is_unfinished(name)) files.insert(status_of(fmt::format("{}/{}", root, name)).st_ino);
  return files;
}

bool is_stray(const std::string& folder, const SideName& side, const std::set<ino_t>& written) {
  if (written.contains(side.file)) return false;
  auto path = fmt::format("{}/{}", folder, side.blob);
  auto blob = status_of(path);
  if (blob.st_nlink == 0) return true;
  // One that was copied has a side file of another number until it is read.
  return blob.st_ino != side.file && read_side(side_path(path, blob.st_ino)).has_value();
}

bool is_stray(const std::string& folder, const std::string& name, const std::set<ino_t>& written) {
  if (auto side = parse_side_name(name)) return is_stray(folder, *side, written);
  auto marked = parse_mark_name(name);
  return marked && status_of(fmt::format("{}/{}", folder, *marked)).st_nlink == 0;
}

}  // namespace

void for_each_folder(
    const std::string& root, const std::string& begin,
    const std::function<void(const std::string& inside, const std::vector<std::string>&)>& visit) {
  std::vector<std::string> folders{begin};
  while (!folders.empty()) {
    auto inside = std::move(folders.back());
    folders.pop_back();
    auto names = names_in(within(root, inside));
    visit(inside, names);
    for (const auto& name : names) {
      if (name.starts_with('.')) continue;
      auto next = inside.empty() ? name : fmt::format("{}/{}", inside, name);
      if (S_ISDIR(status_of(within(root, next)).st_mode)) folders.push_back(std::move(next));
    }
  }
}

int remove_unfinished_in(const std::string& root, std::chrono::seconds least_age) {
  int removed = 0;
  for (const auto& name : names_in(root)) {
    if (!is_unfinished(name)) continue;
    auto path = fmt::format("{}/{}", root, name);
    auto status = status_of(path);
    if (status.st_nlink > 0 && age_of(status) >= least_age) removed += ::unlink(path.c_str()) == 0;
  }
  return removed;
}

int remove_stray_sides(const std::string& root, std::chrono::seconds least_age) {
  int removed = 0;
  const auto written = files_being_written(root);
  for_each_folder(root, {}, [&](const std::string& inside, const auto& names) {
    auto folder = within(root, inside);
    for (const auto& name : names) {
      if (!name.starts_with('.')) continue;
      auto path = fmt::format("{}/{}", folder, name);
      auto status = status_of(path);
      if (!S_ISREG(status.st_mode) || age_of(status) < least_age) continue;
      if (is_stray(folder, name, written)) removed += ::unlink(path.c_str()) == 0;
    }
    // A folder that is not empty stays, and so does one that a writer may have made just now.
    if (!inside.empty() && age_of(status_of(folder)) >= least_age) ::rmdir(folder.c_str());
  });
  return removed;
}

}  // namespace holdfast::filesystem
