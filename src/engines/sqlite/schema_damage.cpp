#include <fmt/format.h>

#include "engines/sqlite/schema.hpp"
#include "engines/sqlite/table_shape.hpp"

namespace holdfast::sqlite {

namespace {

constexpr std::string_view create = "CREATE ";

int count_of(std::string_view word, std::string_view in) {
  int count = 0;
  for (auto at = in.find(word); at != in.npos; at = in.find(word, at + 1)) ++count;
  return count;
}

/// SQLite keeps the text as it was given.
bool is_as_made(const std::string& name, const std::string& table, const std::string& sql) {
  return sql.starts_with(create) && std::string_view{schema_sql}.find(sql) != std::string::npos &&
         sql.find(' ' + name + ' ') != sql.npos && sql.find(' ' + table + ' ') != sql.npos;
}

}  // namespace

bool has_unknown_parts(Connection& db) {
  Connection::Once query{db, "SELECT name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL"};
  while (query->step()) {
    auto name = query->text(0), table = query->text(1);
    bool ours = is_ours(name) || is_ours(table);
    if (ours && !is_as_made(name, table, query->text(2))) return true;
  }
  return false;
}

void find_schema_damage(Connection& db, const std::function<void(std::string)>& found) {
  int seen = 0;
  bool any = false;
  Connection::Once query{db, "SELECT name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL"};
  while (query->step()) {
    auto name = query->text(0), sql = query->text(2);
    any = any || is_ours(name) || count_of("holdfast_", sql) > 0;
    seen += is_as_made(name, query->text(1), sql);
  }
  auto expected = count_of(create, schema_sql);
  if (!any || seen == expected) return;
  found(fmt::format("The list of tables is damaged: {} of its {} entries are as they should be.",
                    seen, expected));
}

}  // namespace holdfast::sqlite
