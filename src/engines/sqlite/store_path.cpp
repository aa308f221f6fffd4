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

}  // namespace

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
