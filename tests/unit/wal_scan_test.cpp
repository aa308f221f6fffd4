#include "engines/sqlite/wal_scan.hpp"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/wal_mend.hpp"
#include "support/temp_store.hpp"
#include "unit/wal_file.hpp"

namespace holdfast::test {
namespace {

using sqlite::Connection;
using sqlite::WalScan;
using Beginning = WalScan::Beginning;

/// What pages were before the log.
std::size_t empty_database(std::uint64_t, std::span<std::uint8_t> into) {
  std::ranges::fill(into, std::uint8_t{0});
  return into.size();
}

class WalScans : public testing::TestWithParam<bool> {
 protected:
  /// Three commits of two frames each.
  static WalMaker three_commits(sqlite::WalSalt salt = {7, 1234567}) {
    WalMaker wal{GetParam(), salt};
    for (std::uint32_t page : {1u, 2u, 3u}) {
      wal.frame(page);
      wal.commit(page + 1);
    }
    return wal;
  }
};

TEST_P(WalScans, AWholeLogIsReadToItsEnd) {
  auto found = scan(three_commits().bytes);
  EXPECT_EQ(found.beginning, Beginning::sound);
  EXPECT_EQ(found.header.page_size, WalMaker::page_size);
  EXPECT_EQ(found.sound, 6);
  EXPECT_EQ(found.frames, 6);
  EXPECT_EQ(found.commits, 3);
  EXPECT_EQ(found.beyond.frames, 0);
}

TEST_P(WalScans, FramesWithoutTheirCommitAreReadButNotUsed) {
  auto wal = three_commits();
  wal.frame(9);
  auto found = scan(wal.bytes);
  EXPECT_EQ(found.sound, 7);
  EXPECT_EQ(found.frames, 6);
  wal.bytes.resize(wal.bytes.size() - 1);
  EXPECT_EQ(scan(wal.bytes).sound, 6);
}

TEST_P(WalScans, NothingAndZerosAreAnEmptyLog) {
  EXPECT_EQ(scan({}).beginning, Beginning::empty);
  EXPECT_EQ(scan(FileBytes(31, 1)).beginning, Beginning::empty);
  EXPECT_EQ(scan(FileBytes(4096, 0)).beginning, Beginning::empty);
  auto wal = three_commits();
  std::fill_n(wal.bytes.begin(), 32, std::uint8_t{0});
  EXPECT_EQ(scan(wal.bytes).beginning, Beginning::damaged) << "frames follow";
}

TEST_P(WalScans, FramesTellWhatADamagedHeaderSaid) {
  auto wal = three_commits();
  // The header and a frame, as where the first sector of a file is lost.
  std::fill_n(wal.bytes.begin(), WalMaker::frame_at(2), std::uint8_t{0});
  auto found = scan(wal.bytes);
  EXPECT_EQ(found.beginning, Beginning::damaged);
  EXPECT_EQ(found.header.page_size, WalMaker::page_size);
  EXPECT_EQ(found.sound, 0);
  EXPECT_EQ(found.frames, 0);
  EXPECT_EQ(found.beyond.frames, 4) << "not the second: what it follows from is gone";
  EXPECT_EQ(found.beyond.commits, 2);
}

TEST_P(WalScans, FramesOfAnOlderGenerationAreTheEnd) {
  auto old = three_commits(), now = three_commits({8, 99});
  auto kept = WalMaker::frame_at(3);
  std::copy(old.bytes.begin() + static_cast<std::ptrdiff_t>(kept), old.bytes.end(),
            now.bytes.begin() + static_cast<std::ptrdiff_t>(kept));
  auto found = scan(now.bytes);
  EXPECT_EQ(found.frames, 2);
  EXPECT_EQ(found.beyond.frames, 0);
}

TEST_P(WalScans, WhatIsBehindABadFrameIsSeen) {
  auto wal = three_commits();
  wal.bytes[WalMaker::frame_at(3) + 100] ^= 0xff;
  auto found = scan(wal.bytes);
  EXPECT_EQ(found.sound, 2);
  EXPECT_EQ(found.frames, 2);
  EXPECT_EQ(found.beyond.frames, 3);
  EXPECT_EQ(found.beyond.commits, 2);
  EXPECT_EQ(found.beyond.last_commit, 6);
}

TEST_P(WalScans, EveryFlippedBitIsSeenAndNearlyAllAreTurnedBack) {
  auto wal = three_commits();
  for (std::uint32_t page : {2u, 3u, 4u}) wal.commit(page);
  const auto whole = wal.bytes;
  int not_told = 0;
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    auto bytes = whole;
    sqlite::Flip flip{bit / 8, static_cast<std::uint8_t>(1 << bit % 8)};
    bytes[flip.offset] ^= flip.mask;
    auto found = scan(bytes);
    ASSERT_LT(found.frames, 9) << "bit " << bit << " goes unnoticed";
    auto flips = sqlite::find_flips({reading(bytes), empty_database}, found);
    if (flips.empty()) {
      ++not_told;
      continue;
    }
    ASSERT_EQ(flips, std::vector{flip}) << "bit " << bit;
    ASSERT_EQ(found.frames, 9);
  }
  EXPECT_LT(not_told, static_cast<int>(whole.size() * 8) / 50);
}

TEST_P(WalScans, FlipsInSeveralFramesAreFoundOneByOne) {
  auto bytes = three_commits().bytes;
  bytes[3] ^= 4;
  bytes[WalMaker::frame_at(2) + 300] ^= 32;
  bytes[WalMaker::frame_at(3) + 17] ^= 1;
  auto found = scan(bytes);
  EXPECT_EQ(sqlite::find_flips({reading(bytes), empty_database}, found).size(), 3U);
  EXPECT_EQ(found.frames, 6);
}

TEST_P(WalScans, MoreThanAFlippedBitIsNotGuessedAt) {
  auto bytes = three_commits().bytes;
  auto page = bytes.begin() + static_cast<std::ptrdiff_t>(WalMaker::frame_at(3) + 24);
  std::fill_n(page, WalMaker::page_size, std::uint8_t{0});
  auto found = scan(bytes);
  EXPECT_TRUE(sqlite::find_flips({reading(bytes), empty_database}, found).empty());
  EXPECT_EQ(found.frames, 2);
}

INSTANTIATE_TEST_SUITE_P(ByteOrder, WalScans, testing::Bool(),
                         [](const auto& order) { return order.param ? "big" : "little"; });

FileBytes contents(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(RealWal, IsReadAsSqliteWroteIt) {
  TempStore folder;
  Connection db{folder.database(), Connection::Mode::read_write, Durability::crash_safe};
  db.execute("CREATE TABLE t (x)");
  for (int i = 0; i < 10; ++i) db.execute("INSERT INTO t VALUES (zeroblob(10000))");
  auto found = scan(contents(folder.database() + "-wal"));
  EXPECT_EQ(found.beginning, Beginning::sound);
  EXPECT_EQ(found.commits, 11);
  EXPECT_EQ(found.frames, found.sound);
  EXPECT_EQ(found.bytes, 32 + static_cast<std::uint64_t>(found.frames) * (24 + 4096));
}

}  // namespace
}  // namespace holdfast::test
