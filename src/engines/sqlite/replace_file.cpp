#include "engines/sqlite/replace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "engines/sqlite/commit_mark.hpp"
#include "engines/sqlite/whole_file.hpp"
#include "recovery/clock.hpp"
#include "recovery/kill_point.hpp"
#include "recovery/private_content.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::sqlite {

namespace {

std::string intent(const SideFiles& files) { return files.folder() + "/replace"; }

/// The file itself, where `path` is a link to it.
std::string canonical_path(const std::string& path) {
  std::error_code ignored;
  auto canonical = std::filesystem::weakly_canonical(path, ignored);
  return canonical.empty() ? path : canonical.string();
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// A name that is not taken: `work.db.damaged-20240115T103000Z`.
std::string name_aside(const std::string& path, std::string_view word) {
  auto time = iso8601(system_clock().wall());
  time = time.substr(0, time.find('.')) + "Z";
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  auto name = fmt::format("{}.{}-{}", path, word, time);
  auto free = name;
  for (int n = 2; exists(free); ++n) free = fmt::format("{}-{}", name, n);
  return free;
}

/// The new file is for the same people as the old one.
void copy_permissions(const std::string& from, const std::string& to) {
  struct stat info {};
  if (::stat(from.c_str(), &info) != 0) return;
  // Only root may give files away; for others it is theirs already, or cannot be.
  [[maybe_unused]] auto given = ::chown(to.c_str(), info.st_uid, info.st_gid);
  ::chmod(to.c_str(), info.st_mode & 07777);
}

void put_aside(const std::string& path, const std::string& aside) {
  // A second name first, so that there is a file at `path` at any time, and it is either the old
  // one or the new one. Not every file system has second names.
  if (exists(path) && !exists(aside) && ::link(path.c_str(), aside.c_str()) != 0)
    move_file(path, aside);
  // The log goes before the new file comes: SQLite would replay it there.
  move_file(path + "-wal", aside + "-wal");
  move_file(path + "-journal", aside + "-journal");
  ::unlink((path + "-shm").c_str());
}

}  // namespace

std::string fresh_database(const SideFiles& files) { return files.folder() + "/fresh.db"; }

std::string replace_database(const std::string& path, const SideFiles& files,
                             std::string_view word) {
  auto place = canonical_path(path);
  auto aside = name_aside(place, word);
  auto fresh = fresh_database(files);
  copy_permissions(place, fresh);
  sync_file(fresh);
  kill_point(KillPoint::replace_before_intent);
  auto draft = intent(files) + ".draft";
  {
    WholeFile file{draft};
    file.append(aside);
    file.sync();
  }
  sync_folder_of(draft);  // the fresh file's name is on disk before anything relies on it
  move_file(draft, intent(files));
  sync_folder_of(draft);
  kill_point(KillPoint::replace_after_intent);
  finish_replacement(path, files);
  return aside;
}

bool finish_replacement(const std::string& path, const SideFiles& files) {
  auto aside = read_private_file(intent(files));
  aside = aside.substr(0, aside.find('\n'));
  if (aside.empty()) return false;
  auto place = canonical_path(path);
  auto fresh = fresh_database(files);
  // As long as the fresh file has its old name, the file in its future place is the old one.
  if (exists(fresh)) {
    put_aside(place, aside);
    sync_folder_of(place);
    kill_point(KillPoint::replace_before_rename);
    move_file(fresh, place);
    CommitMark::forget(files);  // it was about the old file
    sync_folder_of(place);
    sync_folder_of(fresh);
    kill_point(KillPoint::replace_after_rename);
  }
  ::unlink(intent(files).c_str());
  sync_folder_of(fresh);
  return true;
}

}  // namespace holdfast::sqlite
