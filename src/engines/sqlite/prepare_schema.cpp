#include <bit>

#include <fmt/format.h>

#include "engines/sqlite/schema.hpp"
#include "engines/sqlite/whole_file.hpp"

namespace holdfast::sqlite {

namespace {

constexpr Writer::KillPoints schema_points{KillPoint::schema_before_commit,
                                           KillPoint::schema_after_commit};

}  // namespace

bool has_schema(Connection& db) {
  return db.number("SELECT count(*) FROM sqlite_schema WHERE name = 'holdfast_meta'") > 0;
}

std::int64_t noted_version(Connection& db) {
  return db.number("SELECT value FROM holdfast_meta WHERE key = 'schema_version'");
}

void refuse_other_schema(Connection& db, const std::string& path) {
  auto found = noted_version(db);
  if (found == schema_version) return;
  bool one_bit = std::has_single_bit(static_cast<std::uint64_t>(found ^ schema_version));
  // What a newer version added must not be taken for damage, and rebuilt without it.
  bool our_tables = !has_unknown_parts(db);
  find_schema_damage(db, [&](const std::string&) { our_tables = false; });
  if (one_bit && our_tables) return;
  if (found < schema_version)
    throw StoreUnusable{fmt::format(
        "{} was written by a Holdfast from before the first release (schema {}, this program knows "
        "{}), and cannot be carried over; begin a new store",
        path, found, schema_version)};
  throw StoreUnusable{fmt::format(
      "{} was written by a newer Holdfast (schema {}, this program knows {}); update the program",
      path, found, schema_version)};
}

void prepare_schema(Writer& writer, const std::string& path, WallTime now) {
  bool created = writer.write(schema_points, [&](Connection& db) {
    if (has_schema(db)) return false;
    db.execute(schema_sql);
    db.use(
          "INSERT INTO holdfast_meta (key, value) VALUES ('schema_version', ?),"
          " ('created_at', ?), ('store_epoch', 1), ('stale_writes_refused', 0)")
        .bind(schema_version, now)
        .run();
    return true;
  });
  // A file that is synced is of no use if its name is not. SQLite syncs the folder too, but goes on
  // where that fails.
  if (created) sync_folder_of(path);
}

}  // namespace holdfast::sqlite
