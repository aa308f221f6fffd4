#include "engines/sqlite/store_path.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "engines/sqlite/database_file.hpp"
#include "engines/sqlite/side_files.hpp"

namespace holdfast::sqlite {

namespace {

namespace fs = std::filesystem;

/// The file itself, where `path` is a link to it; always with its folder.
fs::path real_path(const std::string& path) {
  std::error_code ignored;
  const auto whole = fs::absolute(path, ignored);
  auto canonical = fs::weakly_canonical(whole, ignored);
  return canonical.empty() ? whole : canonical;
}

/// SQLite gives its log the group of the folder only if the folder says so.
void expect_folder_of_group(const fs::path& folder, const struct stat& info) {
  constexpr mode_t wanted = S_ISGID | S_IRWXG;
  if ((info.st_mode & wanted) == wanted) return;
  throw ConfigError{fmt::format(
      "access=group needs a folder in which everything belongs to the group; {} has mode {:04o}. "
      "Run 'chgrp GROUP {} && chmod 2770 {}'",
      folder.string(), info.st_mode & 07777u, folder.string(), folder.string())};
}

/// A store of ours that becomes one for a group.
void share(const fs::path& database) {
  struct stat folder {};
  if (::stat(database.parent_path().c_str(), &folder) != 0) return;
  for (const char* end : {"", "-wal", "-shm"}) {
    const auto file = database.string() + end;
    // What is not ours, or not there, is as it has to be or is found out when it is used.
    if (::lchown(file.c_str(), static_cast<uid_t>(-1), folder.st_gid) == 0)
      ::chmod(file.c_str(), 0660);
  }
}

[[noreturn]] void refuse_owner(const std::string& path, const struct stat& info) {
  throw ConfigError{fmt::format(
      "{} belongs to user {} (mode {:04o}), and we are user {}. Run as that user, or look where it "
      "came from and remove it; to share a store with a group, see 'access=group' in "
      "docs/operations.md",
      path, user_text(info.st_uid), info.st_mode & 07777u, user_text(::geteuid()))};
}

}  // namespace

void refuse_planted_database(const std::string& path, FilesFor whom) {
  const auto real = real_path(path);
  struct stat folder {
  }, database{};
  if (::stat(real.parent_path().c_str(), &folder) != 0) return;  // which is found out later
  const bool group = whom == FilesFor::group;
  if (group) expect_folder_of_group(real.parent_path(), folder);
  const auto us = ::geteuid();
  const bool there = ::lstat(real.c_str(), &database) == 0;
  const auto owner = there ? database.st_uid : folder.st_uid;
  for (const char* end : {"", "-wal", "-shm", "-journal"}) {
    const auto file = real.string() + end;
    struct stat info {};
    if (::lstat(file.c_str(), &info) != 0) continue;
    if (!S_ISREG(info.st_mode))
      throw ConfigError{fmt::format(
          "{} is {}, which another user may have planted; look where it came from and remove it",
          file, S_ISLNK(info.st_mode) ? "a symbolic link" : "not a regular file")};
    const bool trusted = info.st_uid == us || info.st_uid == 0 ||
                         (us == 0 && info.st_uid == owner) ||
                         (group && info.st_gid == folder.st_gid);
    if (!trusted) refuse_owner(file, info);
  }
}

void create_database(const std::string& path, FilesFor whom) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    create_private(real_path(path), whom);
  } else if (whom == FilesFor::group && info.st_uid == ::geteuid() &&
             (info.st_mode & 0777u) != 0660u) {
    share(real_path(path));
  }
}

std::optional<std::string> open_to_others(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || (info.st_mode & S_IRWXO) == 0) return {};
  return fmt::format("every user of this machine may {} {} (mode {:04o}); run 'chmod o-rwx {}*'",
                     (info.st_mode & S_IWOTH) != 0 ? "change" : "read", path, info.st_mode & 07777u,
                     path);
}

std::string real_database(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return path;
  std::error_code nowhere;
  auto real = fs::canonical(path, nowhere);
  return nowhere ? path : real.string();
}

void expect_readable_file(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return;
    throw StoreError{fmt::format("cannot reach {}: {}; check the permissions of its folders", path,
                                 std::strerror(errno))};
  }
  if (S_ISDIR(info.st_mode))
    throw ConfigError{fmt::format("{} is a folder; name a file in it: {}/work.db", path, path)};
  if (!S_ISREG(info.st_mode))
    throw ConfigError{fmt::format("{} is not a file; name another", path)};
  if (::access(path.c_str(), R_OK) != 0)
    throw StoreError{fmt::format(
        "{} cannot be read by us: {}. It belongs to user {}; work as that user, or let it be read "
        "by others ('chmod' or 'chown')",
        path, std::strerror(errno), info.st_uid)};
}

std::optional<std::string> why_not_ours_to_change(const std::string& path) {
  if (!fs::exists(path) || ::access(path.c_str(), W_OK) == 0) return {};
  return fmt::format("{} cannot be changed by us: {}", path, std::strerror(errno));
}

void refuse_other_files(const std::string& path) {
  if (!fs::exists(path) || fs::exists(SideFiles::named(path).folder())) return;
  // A power cut while it was made leaves half a header, and the journal that undoes it; one while
  // the log was copied leaves the log, which has the header whole.
  if (fs::exists(path + "-journal") || fs::exists(path + "-wal")) return;
  DatabaseFile file{path};
  if (file.found() != DatabaseFile::Found::taken || file.bytes().size == 0) return;
  if (!file.header().is_database)
    throw StoreUnusable{fmt::format("{} is not a database; name another file", path)};
}

void refuse_second_name(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || info.st_nlink < 2) return;
  throw StoreUnusable{fmt::format(
      "{} has {} names (hard links). Whoever opens it by another one destroys it, because each "
      "name "
      "has a log of its own. Remove the other names, or make a copy with 'cp {} {}.copy' and "
      "rename that to {}. For backups use 'holdfast backup'",
      path, info.st_nlink, path, path, path)};
}

}  // namespace holdfast::sqlite
