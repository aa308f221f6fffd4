#include "engines/sqlite/side_files.hpp"

#include <filesystem>

namespace holdfast::sqlite {

SideFiles SideFiles::named(const std::string& database_path) {
  // Workers that reach the same database by different names (a link, a relative path) must find
  // each other's files.
  std::error_code ignored;
  auto canonical = std::filesystem::weakly_canonical(database_path, ignored);
  return SideFiles{
      HostFiles{(canonical.empty() ? database_path : canonical.string()) + ".holdfast"}};
}

SideFiles::SideFiles(const std::string& database_path) : SideFiles{named(database_path)} {
  make_folders();
}

}  // namespace holdfast::sqlite
