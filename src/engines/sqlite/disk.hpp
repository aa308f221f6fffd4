#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace holdfast::sqlite {

/// The room on a file system, and how we share it out.
struct Disk {
  std::int64_t total = 0;
  std::int64_t free = 0;

  /// Kept for finishing running work: new work is refused below this.
  std::int64_t reserve() const {
    return std::min<std::int64_t>(std::int64_t{32} << 20, total / 10);
  }

  /// A WAL of this many pages is copied into the database, which may grow by as much: well within
  /// the reserve.
  int large_wal_pages() const {
    constexpr std::int64_t page_bytes = 4096, most = 4'000, least = 100;
    return static_cast<int>(std::clamp(reserve() / 2 / page_bytes, least, most));
  }
};

/// What is known about the file system of `path`; all zero if nothing is.
Disk disk_of(const std::string& path);

}  // namespace holdfast::sqlite
