#include <bit>

#include <fmt/format.h>

#include "engines/sqlite/schema.hpp"
#include "engines/sqlite/whole_file.hpp"

namespace holdfast::sqlite {

namespace {

constexpr Writer::KillPoints schema_points{KillPoint::schema_before_commit,
                                           KillPoint::schema_after_commit};

/// Away from each other by one bit.
bool is_one_flip(std::int64_t noted, int version) {
  return std::has_single_bit(static_cast<std::uint64_t>(noted ^ version));
}

}  // namespace

bool has_schema(Connection& db) {
  return db.number("SELECT count(*) FROM sqlite_schema WHERE name = 'holdfast_meta'") > 0;
}

std::int64_t noted_version(Connection& db) {
  return db.number("SELECT value FROM holdfast_meta WHERE key = 'schema_version'");
}

int known_version(Connection& db, const std::string& path) {
  const auto noted = noted_version(db);
  if (noted == schema_version) return schema_version;
  // What a newer version added must not be taken for damage, and rebuilt without it.
  if (!has_unknown_parts(db))
    if (auto version = version_of_tables(db); noted < schema_version || is_one_flip(noted, version))
      return version;
  if (noted < oldest_schema_version)
    throw StoreUnusable{fmt::format(
        "{} was written by a Holdfast from before the first release (schema {}, this program knows "
        "{} to {}), and cannot be upgraded; begin a new store",
        path, noted, oldest_schema_version, schema_version)};
  if (noted > schema_version)
    throw StoreUnusable{fmt::format(
        "{} was written by a newer Holdfast (schema {}, this program knows {}); update the program",
        path, noted, schema_version)};
  return static_cast<int>(noted);
}

void make_tables(Connection& db) {
  for (const auto& step : schema_steps()) db.execute(std::string{step.sql});
}

void upgrade_tables(Connection& db, int from) {
  for (const auto& step : schema_steps())
    if (step.version > from) db.execute(std::string{step.sql});
  db.use("UPDATE holdfast_meta SET value = ? WHERE key = 'schema_version'")
      .bind(schema_version)
      .run();
}

void prepare_schema(Writer& writer, const std::string& path, WallTime now) {
  bool created = writer.write(schema_points, [&](Connection& db) {
    if (has_schema(db)) return false;
    make_tables(db);
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
