#include "engines/sqlite/foreign_tables.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "engines/sqlite/table_shape.hpp"

namespace holdfast::sqlite {

namespace {

using Rowid = std::int64_t;
constexpr int failures_allowed = 20'000;

}  // namespace

bool is_foreign(const SchemaRow& row) {
  bool ours = is_ours(row.name) || (is_ours(row.table) && row.sql.empty());
  return !ours && !row.name.starts_with("sqlite_");
}

namespace {

/// The damaged file is a part of the connection as `old`.
class Attached {
 public:
  Attached(Connection& db, const std::string& path) : db_{db} {
    Connection::Once attach{db, "ATTACH ? AS old"};
    attach->bind(path).run();
  }
  ~Attached() {
    auto* db = db_.handle();
    if (!sqlite3_get_autocommit(db)) sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr);
    sqlite3_exec(db, "DETACH old", nullptr, nullptr, nullptr);
  }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

 private:
  Connection& db_;
};

std::vector<SchemaRow> read_schema(Connection& db) {
  std::vector<SchemaRow> rows;
  Connection::Once query{db, "SELECT type, name, tbl_name, rootpage, sql FROM old.sqlite_schema"};
  while (query->step()) {
    SchemaRow row{query->text(0), query->text(1), query->text(2),
                  static_cast<std::uint32_t>(query->integer(3)), query->text(4)};
    if (is_foreign(row)) rows.push_back(std::move(row));
  }
  return rows;
}

/// Copies one table whose definition is in the new file already.
class TableCopy {
 public:
  TableCopy(Connection& db, const std::string& name) : db_{db} {
    std::vector<std::string> columns;
    Connection::Once query{db, "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0"};
    query->bind(name);
    while (query->step()) columns.push_back(query->text(0));
    Connection::Once kind{db,
                          "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?"};
    kind->bind(name);
    bool has_rowid = kind->step() && kind->integer(0) == 0;
    // A table may have columns of its own with these names.
    for (const char* word : std::array{"rowid", "_rowid_", "oid"})
      if (has_rowid && rowid_.empty() && std::ranges::find(columns, word) == columns.end())
        rowid_ = word;
    std::string list = rowid_;
    for (const auto& column : columns) list += (list.empty() ? "" : ", ") + quoted(column);
    count_ = fmt::format("{} NOT INDEXED", quoted(name));
    copy_ = fmt::format("INSERT OR IGNORE INTO main.{0} ({1}) SELECT {1} FROM old.{0} NOT INDEXED",
                        quoted(name), list);
  }

  /// False: some rows could not be read, or are not what the table allows.
  bool run() {
    if (try_to(copy_)) return number("main") == number("old");
    if (rowid_.empty()) {
      copy_beginning();
    } else {
      copy_between(std::numeric_limits<Rowid>::min(), std::numeric_limits<Rowid>::max());
    }
    return false;
  }

 private:
  bool try_to(const std::string& sql) {
    try {
      db_.execute(sql);
      return true;
    } catch (const StoreUnusable&) {
      return false;
    }
  }

  std::int64_t number(const char* where) {
    Connection::Once query{db_, fmt::format("SELECT count(*) FROM {}.{}", where, count_)};
    return query->step() ? query->integer(0) : 0;
  }

  /// What cannot be read in one go is read in halves.
  void copy_between(Rowid first, Rowid last) {
    if (failures_ >= failures_allowed) return;
    if (try_to(fmt::format("{} WHERE {} BETWEEN {} AND {}", copy_, rowid_, first, last))) return;
    ++failures_;
    if (first == last) return;
    // Written so that it cannot overflow.
    Rowid middle = (first & last) + ((first ^ last) >> 1);
    copy_between(first, middle);
    copy_between(middle + 1, last);
  }

  /// Without numbers only the beginning, up to the first row that cannot be read.
  void copy_beginning() {
    std::int64_t good = 0;
    for (auto step = std::int64_t{1} << 40; step > 0; step /= 2)
      if (try_to(fmt::format("{} LIMIT {}", copy_, good + step))) good += step;
  }

  Connection& db_;
  std::string rowid_;
  std::string copy_;
  std::string count_;
  int failures_ = 0;
};

/// Views, triggers and virtual tables are only a definition, and making them in the ordinary way
/// may run code of the user's that is not here.
void copy_definitions(Connection& db) {
  sqlite3_db_config(db.handle(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  db.execute("PRAGMA writable_schema = ON");
  db.execute(
      "INSERT INTO main.sqlite_schema SELECT * FROM old.sqlite_schema"
      " WHERE type IN ('view', 'trigger') OR (type = 'table' AND rootpage = 0)");
  db.execute("PRAGMA writable_schema = OFF");
  sqlite3_db_config(db.handle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
}

std::vector<Damage> copy_all(Connection& db) {
  std::vector<Damage> missing;
  auto note = [&](std::string what) { missing.push_back({Damage::Kind::file, std::move(what)}); };
  auto schema = read_schema(db);
  for (const auto& row : schema) {
    if (row.type != "table" || row.root == 0) continue;
    db.execute(row.sql);
    if (!TableCopy{db, row.name}.run())
      note(fmt::format("Some rows of table {}, which is not Holdfast's, could not be read.",
                       row.name));
  }
  bool counted =
      0 != db.number("SELECT count(*) FROM old.sqlite_schema WHERE name = 'sqlite_sequence'");
  if (counted)
    db.execute(
        "INSERT OR REPLACE INTO main.sqlite_sequence SELECT * FROM old.sqlite_sequence"
        " WHERE name NOT LIKE 'holdfast\\_%' ESCAPE '\\'");
  for (const auto& row : schema) {
    if (row.type != "index" || row.sql.empty()) continue;
    try {
      db.execute(row.sql);
    } catch (const StoreError& error) {
      note(fmt::format("Index {}, which is not Holdfast's, could not be made: {}", row.name,
                       error.what()));
    }
  }
  copy_definitions(db);
  auto version = db.number("PRAGMA old.user_version");
  auto application = db.number("PRAGMA old.application_id");
  db.execute(fmt::format("PRAGMA main.user_version = {}; PRAGMA main.application_id = {}", version,
                         application));
  return missing;
}

}  // namespace

std::vector<Damage> copy_foreign_tables(Connection& db, const std::string& old,
                                        PageSalvage& pages) {
  if (pages.schema_sound() && std::ranges::none_of(pages.schema(), is_foreign)) return {};
  try {
    Attached attached{db, old};
    db.execute("BEGIN");
    auto missing = copy_all(db);
    db.execute("COMMIT");
    return missing;
  } catch (const StoreError&) {
    return copy_foreign_pages(db, pages);
  }
}

}  // namespace holdfast::sqlite
