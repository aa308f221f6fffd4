#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "engines/sqlite/schema.hpp"
#include "engines/sqlite/table_shape.hpp"

namespace holdfast::sqlite {

namespace {

/// A table or index of ours in SQLite's list. SQLite keeps the text as it was given.
struct Part {
  std::string name;
  std::string table;
  std::string sql;
  auto operator<=>(const Part&) const = default;
};
using Parts = std::vector<Part>;

/// Sorted. What SQLite makes by itself has no text.
Parts our_parts(Connection& db) {
  Parts parts;
  Connection::Once query{db, "SELECT name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL"};
  while (query->step()) {
    Part part{query->text(0), query->text(1), query->text(2)};
    if (is_ours(part.name) || is_ours(part.table)) parts.push_back(std::move(part));
  }
  std::ranges::sort(parts);
  return parts;
}

/// What the steps make of an empty database.
struct Made {
  std::map<int, Parts> versions{};
  std::map<std::string, std::size_t> first_columns{};
};

const Made& made() {
  static const Made made = [] {
    Made result;
    Connection db{":memory:", Connection::Mode::read_write, Durability::crash_safe};
    for (const auto& step : schema_steps()) {
      db.execute(std::string{step.sql});
      result.versions[step.version] = our_parts(db);
      Connection::Once tables{db,
                              "SELECT s.name, count(*) FROM sqlite_schema s,"
                              " pragma_table_info(s.name) WHERE s.type = 'table' GROUP BY s.name"};
      while (tables->step())
        result.first_columns.emplace(tables->text(0), static_cast<std::size_t>(tables->integer(1)));
    }
    return result;
  }();
  return made;
}

std::size_t count_as_made(const Parts& found, const Parts& expected) {
  return static_cast<std::size_t>(std::ranges::count_if(
      expected, [&](const Part& part) { return std::ranges::binary_search(found, part); }));
}

int version_of_parts(const Parts& found) {
  int version = 0;
  for (const auto& [number, parts] : made().versions)
    if (count_as_made(found, parts) == parts.size()) version = number;
  return version;
}

/// Nothing of ours is there, not even under another name.
bool is_no_store(Connection& db, const Parts& ours) {
  return ours.empty() &&
         db.number(
             "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%holdfast\\_%' ESCAPE '\\'") == 0;
}

}  // namespace

int version_of_tables(Connection& db) { return version_of_parts(our_parts(db)); }

bool has_unknown_parts(Connection& db) {
  const auto found = our_parts(db);
  const auto version = made().versions.find(version_of_parts(found));
  return version == made().versions.end() || version->second != found;
}

std::optional<std::size_t> first_columns_of(const std::string& table) {
  const auto found = made().first_columns.find(table);
  if (found == made().first_columns.end()) return {};
  return found->second;
}

void find_schema_damage(Connection& db, const std::function<void(std::string)>& found) {
  const auto parts = our_parts(db);
  if (is_no_store(db, parts) || version_of_parts(parts) != 0) return;
  std::size_t seen = 0, expected = 0;
  for (const auto& [number, all] : made().versions) {
    const auto same = count_as_made(parts, all);
    if (same < seen) continue;
    seen = same;
    expected = all.size();
  }
  found(fmt::format("The list of tables is damaged: {} of its {} entries are as they should be.",
                    seen, expected));
}

}  // namespace holdfast::sqlite
