#include "engines/sqlite/open_read_only.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "engines/sqlite/schema.hpp"
#include "engines/sqlite/shown_as_current.hpp"

namespace holdfast::sqlite {

namespace {

bool has_log(const std::string& path) {
  std::error_code absent;
  auto bytes = std::filesystem::file_size(path + "-wal", absent);
  return !absent && bytes > 0;
}

std::unique_ptr<Connection> open_store(const std::string& path, Connection::Mode mode,
                                       Durability durability) {
  auto db = std::make_unique<Connection>(path, mode, durability);
  if (!has_schema(*db)) throw StoreUnusable{fmt::format("{} is not a Holdfast store", path)};
  if (known_version(*db, path) < schema_version) show_as_current(*db);
  return db;
}

}  // namespace

std::unique_ptr<Connection> open_read_only(const std::string& path, Durability durability) {
  try {
    return open_store(path, Connection::Mode::read_only, durability);
  } catch (const StoreUnusable&) {
    throw;
  } catch (const StoreError& error) {
    // To read a log SQLite needs memory that is shared by a file beside it. Where that cannot be
    // made nobody can write, so without a log the database can be taken as it is.
    if (!has_log(path)) return open_store(path, Connection::Mode::immutable, durability);
    throw StoreReadOnly{fmt::format(
        "{} has a write-ahead log, which can only be read where {}-shm can be made; copy "
        "both to another folder, and open them there ({})",
        path, path, error.what())};
  }
}

}  // namespace holdfast::sqlite
