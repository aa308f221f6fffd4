#pragma once

#include <vector>

#include "engines/sqlite/wal_scan.hpp"

namespace holdfast::sqlite {

/// One bit of a file that is not what it was.
struct Flip {
  std::uint64_t offset = 0;
  std::uint8_t mask = 0;
  bool operator==(const Flip&) const = default;
};

/// Where a log can be read, and the database that it belongs to (if that can be).
struct WalSource {
  ReadAt log{};
  ReadAt database{};
};

/// The flipped bits that keep frames of the log from being read, as far as there is at most one in
/// each frame: then it can be told which one, by the checksum and by what the page was before.
/// Where several are equally likely, none is named. `scan` becomes what the log is without them.
/// Changes nothing in the files.
std::vector<Flip> find_flips(const WalSource& source, WalScan& scan);

/// `read` as if these bits had been turned back.
ReadAt without_flips(ReadAt read, std::vector<Flip> flips);

}  // namespace holdfast::sqlite
