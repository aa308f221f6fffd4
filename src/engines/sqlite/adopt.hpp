#pragma once

#include "engines/sqlite/store.hpp"

namespace holdfast::sqlite {

/// Makes a connection that the caller brought fit to write to our tables: it must be open on our
/// file and inside a transaction; its automatic checkpoints are turned off, and workers are woken
/// after each of its commits. Does nothing the second time.
void adopt(sqlite3* db, Store& store, Durability durability);

}  // namespace holdfast::sqlite
