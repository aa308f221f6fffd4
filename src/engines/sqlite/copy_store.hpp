#pragma once

#include <string>

#include <holdfast/sqlite.hpp>

namespace holdfast::sqlite {

/// Copies the store at `path` into `file`, in place of what was there: one file without a log, the
/// store as it was at one moment. It gets its name when it is whole and on disk. Throws
/// `StoreUnusable` if the store is damaged, and `StoreFull` where there is no room.
BackupResult copy_store(const std::string& path, const std::string& file, WallTime now,
                        const BackupOptions& options = {});

}  // namespace holdfast::sqlite
