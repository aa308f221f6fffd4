#include "engines/sqlite/file_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

#include <holdfast/error.hpp>
#include <holdfast/task.hpp>

#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::sqlite {
namespace {

class FileLock : public testing::Test {
 protected:
  FileDescriptor open() const { return open_file(path_, O_RDWR | O_CREAT); }

  test::TempStore folder_;
  std::string path_ = folder_.folder() / "lock";
};

TEST_F(FileLock, IsSeenThroughAnotherDescriptorOfTheSameProcess) {
  auto holder = open(), other = open();
  EXPECT_FALSE(is_locked(other.get()));
  EXPECT_TRUE(try_lock(holder.get()));
  EXPECT_TRUE(is_locked(other.get()));
  EXPECT_FALSE(try_lock(other.get()));
  unlock(holder.get());
  EXPECT_TRUE(try_lock(other.get()));
}

TEST_F(FileLock, BytesAreLockedOneByOne) {
  auto holder = open(), other = open();
  lock(holder.get(), 0);
  EXPECT_TRUE(try_lock(other.get(), 1));
}

TEST_F(FileLock, IsGoneWhenItsFileIsClosedAndNotWhenAnotherIs) {
  auto holder = open(), other = open();
  lock(holder.get());
  open();
  EXPECT_TRUE(is_locked(other.get()));
  holder = FileDescriptor{};
  EXPECT_FALSE(is_locked(other.get()));
}

TEST_F(FileLock, IsGoneWhenTheProcessIsKilled) {
  auto file = open();
  pid_t child = ::fork();
  if (child == 0) {
    auto own = open();
    lock(own.get());
    for (;;) ::pause();
  }
  EXPECT_TRUE(test::eventually([&] { return is_locked(file.get()); }));
  ::kill(child, SIGKILL);
  EXPECT_TRUE(test::eventually([&] { return !is_locked(file.get()); }));
  ::waitpid(child, nullptr, 0);
}

TEST_F(FileLock, ErrorNamesThePath) {
  try {
    open_file(path_ + "/nowhere", O_RDWR);
    FAIL();
  } catch (const StoreError& error) {
    EXPECT_NE(std::string{error.what()}.find(path_), std::string::npos);
  }
}

TEST_F(FileLock, FairLockLetsTheNextOneInBeforeTheSameOneAgain) {
  FairLock busy{path_}, patient{path_};
  auto watch = open();
  for (int round = 0; round < 50; ++round) {
    std::atomic<bool> had_it = false;
    busy.acquire();
    std::jthread waiting{[&] {
      patient.acquire();
      had_it = true;
      patient.release();
    }};
    bool in_line = test::eventually([&] { return is_locked(watch.get(), 0); }, Millis{2'000});
    busy.release();
    busy.acquire();
    EXPECT_TRUE(had_it);
    busy.release();
    ASSERT_TRUE(in_line);
  }
}

TEST_F(FileLock, FairLockNamesItsHolder) {
  FairLock lock{path_};
  lock.acquire();
  int pid = 0;
  std::ifstream{path_} >> pid;
  EXPECT_EQ(pid, ::getpid());
  lock.release();
}

}  // namespace
}  // namespace holdfast::sqlite
