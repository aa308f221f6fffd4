#pragma once

#include "engines/sqlite/wal_scan.hpp"

namespace holdfast::sqlite {

/// Whether every page that can be read from a log whose beginning cannot is in the database as it
/// is there. So it is after a power cut while SQLite started the log anew, which it does only when
/// everything was copied: then nothing is missing.
bool all_in_database(const ReadAt& log, std::uint64_t size, const ReadAt& database);

}  // namespace holdfast::sqlite
