#pragma once

#include <chrono>

struct sqlite3;

namespace holdfast::sqlite {

/// Copies the log into the database and empties it, keeping writers out meanwhile. Where somebody
/// else writes for longer than `patience` nothing is copied. Returns SQLite's code.
int checkpoint_and_truncate(sqlite3* db, std::chrono::milliseconds patience);

}  // namespace holdfast::sqlite
