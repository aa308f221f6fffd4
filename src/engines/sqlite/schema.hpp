#pragma once

#include "engines/sqlite/writer.hpp"

namespace holdfast::sqlite {

/// The text of schema_4.sql, put in by the build.
extern const char* const schema_sql;
/// No two versions have the same tables: so a number that does not fit to them by one bit is
/// damaged.
inline constexpr int schema_version = 4;
/// What the store says of itself.
std::int64_t noted_version(Connection& db);

bool has_schema(Connection& db);
/// Throws `StoreUnusable` if the tables are from another version of Holdfast. That only a bit of
/// the number is wrong is for the check to find.
void refuse_other_schema(Connection& db, const std::string& path);
/// Creates the tables if they are not there.
void prepare_schema(Writer& writer, const std::string& path, WallTime now);

/// Whether there is a table with a name of ours, or something about a table of ours, that we did
/// not make: as a newer version would have it.
bool has_unknown_parts(Connection& db);

/// Calls `found` with a sentence if what is ours in the list of tables and indexes is not as we
/// made it. SQLite does not care what a column is called, so its checks do not see that.
void find_schema_damage(Connection& db, const std::function<void(std::string)>& found);

}  // namespace holdfast::sqlite
