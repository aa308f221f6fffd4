#include "engines/sqlite/side_files.hpp"

#include <sys/stat.h>

#include <filesystem>

#include <fmt/format.h>
#include <holdfast/error.hpp>

namespace holdfast::sqlite {

namespace {

/// Nothing if there is no database yet.
std::optional<uid_t> owner_of(const std::string& database_path) {
  struct stat info {};
  if (::stat(database_path.c_str(), &info) != 0) return {};
  return info.st_uid;
}

}  // namespace

SideFiles SideFiles::named(const std::string& database_path) {
  // Workers that reach the same database by different names (a link, a relative path) must find
  // each other's files.
  std::error_code ignored;
  auto canonical = std::filesystem::weakly_canonical(database_path, ignored);
  return SideFiles{
      HostFiles{(canonical.empty() ? database_path : canonical.string()) + ".holdfast"}};
}

SideFiles::SideFiles(const std::string& database_path, FilesFor whom)
    : SideFiles{named(database_path)} {
  auto parent = std::filesystem::path{folder()}.parent_path();
  std::error_code unknown;
  if (!parent.empty() && !std::filesystem::exists(parent, unknown) && !unknown)
    throw StoreError{fmt::format(
        "cannot make a store at {}: there is no folder {}; create it, or name another file",
        database_path, parent.string())};
  make_folders(whom, owner_of(database_path));
}

}  // namespace holdfast::sqlite
