#include <fmt/format.h>

#include "engines/sqlite/schema.hpp"

namespace holdfast::sqlite {

namespace {

constexpr Writer::KillPoints schema_points{KillPoint::schema_before_commit,
                                           KillPoint::schema_after_commit};

bool tables_exist(Connection& db) {
  return db.number("SELECT count(*) FROM sqlite_schema WHERE name = 'holdfast_meta'") > 0;
}

}  // namespace

void prepare_schema(Writer& writer, const std::string& path, WallTime now) {
  writer.write(schema_points, [&](Connection& db) {
    if (!tables_exist(db)) {
      db.execute(schema_sql);
      db.use(
            "INSERT INTO holdfast_meta (key, value) VALUES ('schema_version', ?),"
            " ('created_at', ?), ('store_epoch', 1), ('stale_writes_refused', 0)")
          .bind(schema_version, now)
          .run();
      return;
    }
    auto found = db.number("SELECT value FROM holdfast_meta WHERE key = 'schema_version'");
    if (found > schema_version) {
      throw StoreUnusable{fmt::format(
          "{} was written by a newer Holdfast (schema {}, this program knows {}); update the "
          "program",
          path, found, schema_version)};
    }
  });
}

}  // namespace holdfast::sqlite
