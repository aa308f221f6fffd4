#include "engines/sqlite/is_store.hpp"

#include <filesystem>

#include <holdfast/error.hpp>

#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/side_files.hpp"

namespace holdfast::sqlite {

bool may_be_store(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::exists(SideFiles::named(path).folder(), unknown) ||
      std::filesystem::file_size(path, unknown) == 0 || unknown)
    return true;
  try {
    Connection db{path, Connection::Mode::read_only, {}};
    return db.use("SELECT 1 FROM sqlite_master WHERE name = 'holdfast_meta'").step() ||
           !db.use("SELECT 1 FROM sqlite_master LIMIT 1").step();
  } catch (const StoreError&) {
    return true;
  }
}

}  // namespace holdfast::sqlite
