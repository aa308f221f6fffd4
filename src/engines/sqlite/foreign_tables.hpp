#pragma once

#include <string>
#include <vector>

#include <holdfast/integrity.hpp>

#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/page_salvage.hpp"

namespace holdfast::sqlite {

/// Copies what is not ours (tables, indexes, views, triggers of the user's) from the damaged file
/// `old` into `db`, reading tables without their indexes. Rows that cannot be read are left out.
/// Returns what is missing. `pages` is the same file, read by ourselves: for where SQLite will not.
std::vector<Damage> copy_foreign_tables(Connection& db, const std::string& old, PageSalvage& pages);

/// The part that does without SQLite: plain tables with a row number, and definitions.
std::vector<Damage> copy_foreign_pages(Connection& db, PageSalvage& pages);

bool is_foreign(const SchemaRow& row);
/// As an identifier in SQL.
std::string quoted(const std::string& name);

}  // namespace holdfast::sqlite
