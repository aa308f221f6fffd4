#include "engines/sqlite/shown_as_current.hpp"

#include <sqlite3.h>

#include <map>

#include <fmt/format.h>

#include "engines/sqlite/schema.hpp"
#include "engines/sqlite/table_shape.hpp"

namespace holdfast::sqlite {

namespace {

struct ShownColumn {
  std::string name;
  std::string otherwise;  ///< as SQL
};
using ShownTables = std::map<std::string, std::vector<ShownColumn>>;

ShownTables columns_of_tables(Connection& db) {
  ShownTables tables;
  Connection::Once query{
      db,
      "SELECT s.name, c.name, coalesce(c.dflt_value, 'NULL') FROM main.sqlite_schema s,"
      " pragma_table_info(s.name, 'main') c WHERE s.type = 'table' ORDER BY s.name, c.cid"};
  while (query->step())
    if (is_ours(query->text(0))) tables[query->text(0)].push_back({query->text(1), query->text(2)});
  return tables;
}

ShownTables current_tables() {
  Connection db{":memory:", Connection::Mode::read_write, Durability::crash_safe};
  make_tables(db);
  return columns_of_tables(db);
}

std::string list(const std::vector<ShownColumn>& columns, std::size_t there) {
  std::string text;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    text += i == 0 ? "" : ", ";
    if (i >= there) text += columns[i].otherwise + " AS ";
    text += columns[i].name;
  }
  return text;
}

}  // namespace

std::vector<std::string> show_as_current(Connection& db) {
  std::vector<std::string> shown;
  const auto version = version_of_tables(db);
  if (version == 0 || version == schema_version) return shown;
  const auto there = columns_of_tables(db);
  for (const auto& [name, columns] : current_tables()) {
    const auto table = there.find(name);
    const auto old = table == there.end() ? 0 : table->second.size();
    if (old >= columns.size()) continue;
    {
      Connection::Once before{db, "SELECT 1 FROM temp.sqlite_schema WHERE name = ?"};
      if (before->bind(name).step()) continue;
    }
    db.execute(fmt::format("CREATE TEMP VIEW {} AS SELECT {} {}", name, list(columns, old),
                           old == 0 ? "WHERE 0" : "FROM main." + name));
    shown.push_back(name);
  }
  return shown;
}

ShownAsCurrent::ShownAsCurrent(Connection& db) : db_{db}, names_{show_as_current(db)} {}

ShownAsCurrent::~ShownAsCurrent() {
  for (const auto& name : names_)
    sqlite3_exec(db_.handle(), ("DROP VIEW temp." + name).c_str(), nullptr, nullptr, nullptr);
}

}  // namespace holdfast::sqlite
