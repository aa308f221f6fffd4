#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engines/sqlite/writer.hpp"

namespace holdfast::sqlite {

/// The tables are made in steps, a file each. The first step that there is makes them from nothing,
/// every other one takes them from the version before to its own. A step may add tables, indexes
/// and columns at the end that have a default, so that a row of an earlier version is a row of
/// every later one. It changes the text of a table or an index, so that the tables say which
/// version they are; and it never changes again, because stores that it has made are compared with
/// it.
struct SchemaStep {
  int version = 0;
  std::string_view sql{};
};
constexpr int oldest_schema_version = 4;
constexpr int schema_version = 5;
/// From the oldest to this version, without a gap.
std::span<const SchemaStep> schema_steps();

/// Makes the tables in a database that has none, by all steps.
void make_tables(Connection& db);
/// Takes the tables from a version that is known to this one, and notes that. To be called in a
/// transaction.
void upgrade_tables(Connection& db, int from);

bool has_schema(Connection& db);
/// What the store says of itself.
std::int64_t noted_version(Connection& db);
/// The latest version of which all tables and indexes are there, exactly as its steps make them; 0:
/// of none.
int version_of_tables(Connection& db);
/// Whether there is a table with a name of ours, or something about a table of ours, that no
/// version known here has: as a newer one would have it.
bool has_unknown_parts(Connection& db);
/// The version that the store is of: the noted one, or the one that its tables have where that
/// note is damaged. (For the check to find.) Throws `StoreUnusable`, which names both versions, if
/// this program does not know the version.
int known_version(Connection& db, const std::string& path);

/// Creates the tables if they are not there.
void prepare_schema(Writer& writer, const std::string& path, WallTime now);

/// How many columns a table of ours had when it was made; nothing: it is none of ours. Rows from
/// then have as many values.
std::optional<std::size_t> first_columns_of(const std::string& table);

/// Calls `found` with a sentence if what is ours in the list of tables and indexes is not as the
/// steps make it. SQLite does not care what a column is called, so its checks do not see that.
void find_schema_damage(Connection& db, const std::function<void(std::string)>& found);

}  // namespace holdfast::sqlite
