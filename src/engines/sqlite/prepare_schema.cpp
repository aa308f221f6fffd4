#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "engines/sqlite/schema.hpp"

namespace holdfast::sqlite {

namespace {

constexpr Writer::KillPoints schema_points{KillPoint::schema_before_commit,
                                           KillPoint::schema_after_commit};

bool tables_exist(Connection& db) {
  return db.number("SELECT count(*) FROM sqlite_schema WHERE name = 'holdfast_meta'") > 0;
}

/// A file that is synced is of no use if its name is not. SQLite syncs the folder too, but goes on
/// where that fails.
void sync_folder_of(const std::string& path) {
  auto folder = std::filesystem::absolute(path).parent_path();
  FileDescriptor opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  // Some file systems have no such thing, and some folders may be used but not read.
  if (!opened || ::fsync(opened.get()) == 0 || errno == EINVAL || errno == ENOTSUP) return;
  throw StorageFailed{fmt::format(
      "the storage failed under {} while its folder was synced: {}. Check the disk, then start "
      "again",
      path, std::strerror(errno))};
}

}  // namespace

void prepare_schema(Writer& writer, const std::string& path, WallTime now) {
  bool created = writer.write(schema_points, [&](Connection& db) {
    if (!tables_exist(db)) {
      db.execute(schema_sql);
      db.use(
            "INSERT INTO holdfast_meta (key, value) VALUES ('schema_version', ?),"
            " ('created_at', ?), ('store_epoch', 1), ('stale_writes_refused', 0)")
          .bind(schema_version, now)
          .run();
      return true;
    }
    auto found = db.number("SELECT value FROM holdfast_meta WHERE key = 'schema_version'");
    if (found > schema_version) {
      throw StoreUnusable{fmt::format(
          "{} was written by a newer Holdfast (schema {}, this program knows {}); update the "
          "program",
          path, found, schema_version)};
    }
    return false;
  });
  if (created) sync_folder_of(path);
}

}  // namespace holdfast::sqlite
