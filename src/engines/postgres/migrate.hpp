#pragma once

#include <string>

#include "engines/postgres/connection.hpp"

namespace holdfast::postgres {

/// Of the tables that this version works with.
inline constexpr int schema_version = 8;

/// Of the tables that are there; 0: none.
int version_of(Connection& db, const Address& address);

/// What a role must be granted to use the tables.
std::string needed_rights(const Address& address);

struct Migrated {
  int before = 0;  ///< 0: there was nothing
  int now = schema_version;
};

/// Brings the tables to this version, in one transaction and one process at a time. Throws
/// `StoreUnusable` if they are of a newer version, or if the role may not create them.
Migrated migrate(Connection& db, const Address& address);

bool has_batch_tables(Connection& db, const Address& address);
/// Makes the tables of batches where they are not there. `open` does not make them with the others,
/// because they may be somebody else's to make. Throws as `migrate` does.
void make_batch_tables(Connection& db, const Address& address);

/// The statements that `migrate` would run on an empty database, for people who run them
/// themselves.
std::string migration_text(const Dialect& dialect);

}  // namespace holdfast::postgres
