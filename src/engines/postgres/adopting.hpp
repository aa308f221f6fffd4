#pragma once

#include <span>
#include <vector>

#include "engines/postgres/connection.hpp"
#include "tasks/task_transfer.hpp"

namespace holdfast::postgres {

/// Inserts tasks of another store, inside a transaction; see `TaskTransfer::adopt`.
std::vector<Adopted> adopt_all(Connection& db, std::span<const Parcel> parcels);

}  // namespace holdfast::postgres
