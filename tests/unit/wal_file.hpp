#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "engines/sqlite/wal_scan.hpp"

namespace holdfast::test {

using FileBytes = std::vector<std::uint8_t>;

/// A file that is only bytes in memory.
inline sqlite::ReadAt reading(const FileBytes& bytes) {
  return [&bytes](std::uint64_t offset, std::span<std::uint8_t> into) {
    auto from = std::min<std::size_t>(offset, bytes.size());
    auto count = std::min(into.size(), bytes.size() - from);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), count, into.begin());
    return count;
  };
}

inline sqlite::WalScan scan(const FileBytes& bytes) {
  return sqlite::scan_wal(reading(bytes), bytes.size());
}

/// Writes a log as SQLite would, in either byte order. A frame changes a few bytes of its page.
class WalMaker {
 public:
  static constexpr std::uint32_t page_size = 512;

  explicit WalMaker(bool big_endian, sqlite::WalSalt salt = {7, 1234567})
      : big_endian_{big_endian}, salt_{salt} {
    for (auto word : {0x377f0682u | big_endian, 3'007'000u, page_size, 0u, salt.first, salt.second})
      put(word);
    sum_ = sqlite::add_to_sum({}, bytes, big_endian);
    put(sum_.first);
    put(sum_.second);
  }

  /// A frame for `page`; a commit if the database has `pages` after it.
  void frame(std::uint32_t page, std::uint32_t pages = 0) {
    auto& content = pages_[page];
    content.resize(page_size);
    for (std::size_t i = 0; i < 24; ++i) content[100 + i] = static_cast<std::uint8_t>(++seed_ * 37);
    auto begin = bytes.size();
    put(page);
    put(pages);
    std::span<const std::uint8_t> summed{bytes};
    sum_ = sqlite::add_to_sum(sum_, summed.subspan(begin), big_endian_);
    sum_ = sqlite::add_to_sum(sum_, content, big_endian_);
    for (auto word : {salt_.first, salt_.second, sum_.first, sum_.second}) put(word);
    bytes.insert(bytes.end(), content.begin(), content.end());
  }
  void commit(std::uint32_t page) { frame(page, 10); }

  static std::size_t frame_at(int number) {
    return 32 + static_cast<std::size_t>(number - 1) * (24 + page_size);
  }

  FileBytes bytes;

 private:
  void put(std::uint32_t word) {
    for (int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::uint8_t>(word >> shift));
  }

  bool big_endian_;
  sqlite::WalSalt salt_;
  sqlite::WalSum sum_{};
  std::map<std::uint32_t, FileBytes> pages_;
  unsigned seed_ = 0;
};

}  // namespace holdfast::test
