#include "engines/sqlite/wal_verdict.hpp"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "engines/sqlite/connection.hpp"
#include "support/temp_store.hpp"
#include "unit/wal_file.hpp"

namespace holdfast::test {
namespace {

using sqlite::WalCircumstances;
using sqlite::WalIndex;
using Kind = sqlite::WalVerdict::Kind;

constexpr sqlite::WalSalt salt{7, 1234567};

/// Five commits of one frame each; frame `bad` cannot be read.
FileBytes five_commits(int bad = 0) {
  WalMaker wal{false, salt};
  for (std::uint32_t page = 1; page <= 5; ++page) wal.commit(page);
  if (bad > 0) {
    auto at = wal.bytes.begin() + static_cast<std::ptrdiff_t>(WalMaker::frame_at(bad) + 24);
    std::fill_n(at, WalMaker::page_size, std::uint8_t{0});
  }
  return wal.bytes;
}

Kind verdict(const FileBytes& wal, const WalCircumstances& known) {
  return judge_wal(scan(wal), known).kind;
}

WalCircumstances running(int frames, int backfilled = 0) {
  return {WalIndex{salt, frames, backfilled}, false};
}

TEST(WalVerdict, TheSharedMemoryOfARunningMachineDecides) {
  EXPECT_EQ(verdict(five_commits(), running(5)), Kind::sound);
  EXPECT_EQ(verdict(five_commits(3), running(2)), Kind::torn) << "left by who died while writing";
  EXPECT_EQ(verdict(five_commits(3), running(5)), Kind::damaged);
  EXPECT_EQ(verdict(five_commits(5), running(5)), Kind::damaged) << "the tail was acknowledged";
  EXPECT_EQ(verdict(five_commits(), running(0)), Kind::sound);
}

TEST(WalVerdict, ALogThatIsAllInTheDatabaseIsNotMissed) {
  EXPECT_EQ(verdict(five_commits(3), running(5, 5)), Kind::superfluous);
  EXPECT_EQ(verdict({}, running(5, 5)), Kind::superfluous);
  EXPECT_EQ(verdict(five_commits(3), running(5, 4)), Kind::unusable) << "the database is ahead";
  EXPECT_EQ(verdict(five_commits(3), running(5, 1)), Kind::damaged);
}

TEST(WalVerdict, ALogThatIsGoneOrAnotherIsNoticed) {
  EXPECT_EQ(verdict({}, running(5)), Kind::damaged);
  auto other = five_commits();
  WalCircumstances known{WalIndex{{8, 99}, 5, 0}, false};
  EXPECT_EQ(verdict(other, known), Kind::unusable);
  known = {WalIndex{{salt.first + 1, 99}, 5, 0}, true};
  EXPECT_EQ(verdict(other, known), Kind::unusable) << "an older copy";
  // The shared memory on disk may be from before the last new beginning.
  known.index->salt.first = salt.first - 1;
  EXPECT_EQ(verdict(other, known), Kind::sound);
}

TEST(WalVerdict, AfterARestartTheSharedMemoryIsTheLeastThatMustBeThere) {
  WalCircumstances known{WalIndex{salt, 4, 0}, true};
  EXPECT_EQ(verdict(five_commits(3), known), Kind::damaged);
  EXPECT_EQ(verdict(five_commits(5), known), Kind::sound) << "torn, never acknowledged";
  known.durability = Durability::crash_safe;
  EXPECT_EQ(verdict(five_commits(3), known), Kind::doubtful) << "the bargain of crash-safe";
}

TEST(WalVerdict, WithoutItWholeCommitsBehindTheGapDecide) {
  WalCircumstances nothing{};
  EXPECT_EQ(verdict(five_commits(5), nothing), Kind::sound);
  EXPECT_EQ(verdict(five_commits(4), nothing), Kind::doubtful);
  EXPECT_EQ(verdict(five_commits(3), nothing), Kind::damaged);
  EXPECT_EQ(judge_wal(scan(five_commits(2)), nothing).lost_commits, 3);
  auto headless = five_commits();
  headless[1] ^= 0xff;
  EXPECT_EQ(verdict(headless, nothing), Kind::unusable);
}

TEST(WalVerdict, TheIndexIsReadAsSqliteWroteIt) {
  TempStore folder;
  sqlite::Connection db{folder.database(), sqlite::Connection::Mode::read_write,
                        Durability::crash_safe};
  db.execute("CREATE TABLE t (x)");
  for (int i = 0; i < 10; ++i) db.execute("INSERT INTO t VALUES (zeroblob(10000))");
  auto contents = [](const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return FileBytes{std::istreambuf_iterator<char>{file}, {}};
  };
  auto wal = scan(contents(folder.database() + "-wal"));
  auto index = WalIndex::parse(contents(folder.database() + "-shm"));
  ASSERT_TRUE(index);
  EXPECT_EQ(index->salt, wal.header.salt);
  EXPECT_EQ(index->frames, wal.frames);
  EXPECT_EQ(index->backfilled, 0);
  db.execute("PRAGMA wal_checkpoint(PASSIVE)");
  EXPECT_EQ(WalIndex::parse(contents(folder.database() + "-shm"))->backfilled, wal.frames);
}

TEST(WalVerdict, WhatWasNotedIsMissedWhereNothingElseKnowsOfIt) {
  WalCircumstances known{
      .rebooted = false, .noted = WalIndex{salt, 5, 0}, .database_untouched = true};
  EXPECT_EQ(verdict({}, known), Kind::damaged) << "removed";
  EXPECT_EQ(verdict(five_commits(), known), Kind::sound);
  EXPECT_EQ(verdict(five_commits(3), known), Kind::damaged);
  known.noted->salt = {salt.first + 17, 99};
  EXPECT_EQ(verdict(five_commits(), known), Kind::unusable) << "another one";
  known.noted->salt = {salt.first - 1, 99};
  EXPECT_EQ(verdict(five_commits(), known), Kind::sound) << "started anew since";
}

TEST(WalVerdict, ALogIsNotMissedWhereSomebodyMayHaveCopiedIt) {
  WalCircumstances known{.rebooted = false, .noted = WalIndex{salt, 5, 0}};
  EXPECT_EQ(verdict({}, known), Kind::sound) << "the database was written since";
  known.database_untouched = true;
  known.noted->backfilled = 5;
  EXPECT_EQ(verdict({}, known), Kind::sound);
  known.noted->backfilled = 0;
  known.rebooted = true;
  EXPECT_EQ(verdict({}, known), Kind::sound) << "times of files may have gone back";
}

}  // namespace
}  // namespace holdfast::test
