#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engines/sqlite/wal_scan.hpp"

namespace holdfast::test {

/// What a bad disk, or somebody who means well, does to a file.
class StoreFile {
 public:
  explicit StoreFile(std::string path) : path_{std::move(path)} {}

  std::vector<std::uint8_t> read() const {
    std::ifstream file{path_, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  void write(const std::vector<std::uint8_t>& bytes) const {
    std::ofstream file{path_, std::ios::binary | std::ios::trunc};
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  void flip(std::uint64_t offset, std::uint8_t mask) const {
    auto bytes = read();
    bytes.at(offset) ^= mask;
    write(bytes);
  }
  void zero(std::uint64_t offset, std::size_t count) const {
    auto bytes = read();
    for (std::size_t i = 0; i < count; ++i) bytes.at(offset + i) = 0;
    write(bytes);
  }
  void truncate(std::uint64_t size) const { std::filesystem::resize_file(path_, size); }
  const std::string& path() const { return path_; }

  sqlite::WalScan scan() const {
    auto bytes = read();
    auto at = [&](std::uint64_t offset, std::span<std::uint8_t> into) {
      auto from = std::min<std::size_t>(offset, bytes.size());
      auto count = std::min(into.size(), bytes.size() - from);
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), count, into.begin());
      return count;
    };
    return sqlite::scan_wal(at, bytes.size());
  }

 private:
  std::string path_;
};

}  // namespace holdfast::test
