#include <algorithm>
#include <cstdlib>

#include "engines/sqlite/wal_mend.hpp"
#include "engines/sqlite/wal_scan.hpp"

using namespace holdfast::sqlite;

/// Reads any bytes as a write-ahead log.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ReadAt read = [&](std::uint64_t offset, std::span<std::uint8_t> into) {
    if (offset >= size) return std::size_t{0};
    auto count = std::min<std::size_t>(into.size(), size - offset);
    std::copy_n(data + offset, count, into.data());
    return count;
  };
  auto scan = scan_wal(read, size);
  if (scan.frames > scan.sound) std::abort();
  find_flips(read, scan);
  return 0;
}
