#include "engines/sqlite/side_files.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <holdfast/error.hpp>

namespace holdfast::sqlite {

namespace {

void make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return;
  auto message = fmt::format("cannot create the folder {}: {}", path, std::strerror(errno));
  if (errno == EACCES || errno == EROFS || errno == EPERM) throw StoreReadOnly{message};
  throw StoreError{message};
}

}  // namespace

SideFiles SideFiles::named(const std::string& database_path) {
  // Workers that reach the same database by different names (a link, a relative path) must find
  // each other's files.
  std::error_code ignored;
  auto canonical = std::filesystem::weakly_canonical(database_path, ignored);
  SideFiles files;
  files.folder_ = (canonical.empty() ? database_path : canonical.string()) + ".holdfast";
  return files;
}

SideFiles::SideFiles(const std::string& database_path) : SideFiles{named(database_path)} {
  make_folder(folder_);
  make_folder(workers());
  make_folder(attempts());
}

}  // namespace holdfast::sqlite
