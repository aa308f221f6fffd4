#include "engines/sqlite/open_lock.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <gtest/gtest.h>

#include <holdfast/error.hpp>

#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/database_file.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::sqlite {
namespace {

constexpr std::chrono::milliseconds no_patience{1};

class OpenLockTest : public testing::Test {
 protected:
  test::TempStore folder_;
  SideFiles files_{folder_.database()};
};

TEST_F(OpenLockTest, OthersWaitUntilTheFirstOneIsReady) {
  OpenLock first{files_, {}};
  EXPECT_TRUE(first.alone());
  EXPECT_THROW(OpenLock(files_, no_patience), StoreError);
  EXPECT_EQ(OpenLock::doorkeeper(files_), ::getpid());
  first.ready();
  OpenLock second{files_, {}};
  EXPECT_FALSE(second.alone());
  // Whoever lost patience is let in all the same, and goes at once.
  EXPECT_TRUE(test::eventually([&] { return !OpenLock::doorkeeper(files_); }));
}

TEST_F(OpenLockTest, OnlyTheLastOneIsTheLast) {
  OpenLock first{files_, {}};
  first.ready();
  {
    OpenLock second{files_, {}};
    EXPECT_FALSE(first.is_last());
    EXPECT_FALSE(second.is_last());
  }
  EXPECT_TRUE(first.is_last());
  EXPECT_THROW(OpenLock(files_, no_patience), StoreError) << "until it has closed the store";
}

TEST_F(OpenLockTest, WhoDiesOnTheWayLetsTheNextOneBeginAnew) {
  pid_t child = ::fork();
  if (child == 0) {
    OpenLock first{files_, {}};
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  OpenLock next{files_, no_patience};
  EXPECT_TRUE(next.alone());
}

TEST_F(OpenLockTest, KnowsTheLastBoot) {
  OpenLock lock{files_, {}};
  EXPECT_EQ(lock.last_boot(), "");
  lock.note_boot("11111111-2222-3333-4444-555555555555");
  EXPECT_EQ(lock.last_boot(), "11111111-2222-3333-4444-555555555555");
}

/// Whether SQLite's locks of this process on the file are there for others to see.
bool sqlite_holds_locks(const std::string& path) {
  pid_t child = ::fork();
  if (child == 0) {
    int fd = ::open(path.c_str(), O_RDWR);
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_start = 0x40000000;
    range.l_len = 512;
    ::fcntl(fd, F_GETLK, &range);
    ::_exit(range.l_type == F_UNLCK ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status) == 1;
}

TEST_F(OpenLockTest, LookingAtTheFileTakesNoLocksFromConnectionsOfThisProcess) {
  Connection db{folder_.database(), Connection::Mode::read_write, Durability::crash_safe};
  db.execute("CREATE TABLE t (x)");
  ASSERT_TRUE(sqlite_holds_locks(folder_.database()));
  EXPECT_EQ(DatabaseFile{folder_.database()}.found(), DatabaseFile::Found::in_use);
  EXPECT_TRUE(sqlite_holds_locks(folder_.database()));
}

TEST_F(OpenLockTest, NobodyOpensADatabaseThatIsLookedAtAsBytes) {
  {
    Connection made{folder_.database(), Connection::Mode::read_write, Durability::crash_safe};
    made.execute("CREATE TABLE t (x)");
  }
  DatabaseFile file{folder_.database()};
  ASSERT_EQ(file.found(), DatabaseFile::Found::taken);
  EXPECT_TRUE(file.header().is_database);
  EXPECT_TRUE(file.header().wal_mode);
  EXPECT_TRUE(sqlite_holds_locks(folder_.database()));
}

}  // namespace
}  // namespace holdfast::sqlite
