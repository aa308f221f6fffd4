#include "recovery/child_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <holdfast/error.hpp>

#include "engines/sqlite/side_files.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::sqlite {
namespace {

/// A process that waits to be killed.
class Bystander {
 public:
  template <class F>
  explicit Bystander(F begin) : pid_{::fork()} {
    if (pid_ != 0) return;
    begin();
    for (;;) ::pause();
  }
  ~Bystander() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  /// Whether it has ended; by what.
  bool was_killed() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
    pid_ = -1;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }
  pid_t pid() const { return pid_; }
  /// A SIGKILL that was sent before would win, even if it has not struck yet.
  bool lives_until_we_end_it() {
    int status = 0;
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
  }

 private:
  pid_t pid_;
};

class ChildLock : public testing::Test {
 protected:
  std::string path() const { return files_.attempt(task_); }
  /// What the child of an attempt does with the lock that it inherited.
  static void write_group(int fd) {
    ::setpgid(0, 0);
    auto group = std::to_string(::getpgrp());
    if (::write(fd, group.data(), group.size()) < 0) ::_exit(1);
  }
  bool group_is_written() const {
    int group = 0;
    std::ifstream{path()} >> group;
    return group > 0;
  }

  test::TempStore folder_;
  SideFiles files_{folder_.database()};
  TaskId task_ = TaskId::make();
};

TEST_F(ChildLock, NothingIsRunningWhereNothingWasStarted) {
  EXPECT_FALSE(any_child_locks(files_));
  EXPECT_FALSE(child_still_running(files_, task_));
}

TEST_F(ChildLock, IsTakenAndDropped) {
  auto lock = take_child_lock(files_, task_);
  EXPECT_TRUE(any_child_locks(files_));
  drop_child_lock(files_, task_, lock.get());
  EXPECT_FALSE(any_child_locks(files_));
}

TEST_F(ChildLock, WhatADeadWorkerAndItsDeadChildLeftIsRemoved) {
  take_child_lock(files_, task_);
  EXPECT_TRUE(any_child_locks(files_));
  EXPECT_FALSE(child_still_running(files_, task_));
  EXPECT_FALSE(any_child_locks(files_));
}

TEST_F(ChildLock, ChildThatOutlivedItsWorkerIsKilledBeforeTheTaskMayRun) {
  auto lock = take_child_lock(files_, task_);
  Bystander child{[&] { write_group(lock.get()); }};
  ASSERT_TRUE(test::eventually([&] { return group_is_written(); }));
  lock = FileDescriptor{};
  EXPECT_TRUE(child_still_running(files_, task_));
  EXPECT_TRUE(test::eventually([&] { return child.was_killed(); }));
  EXPECT_FALSE(child_still_running(files_, task_));
  EXPECT_FALSE(any_child_locks(files_));
}

TEST_F(ChildLock, ChildThatHadNoTimeToNameItsGroupIsKilledToo) {
  auto lock = take_child_lock(files_, task_);
  Bystander child{[] {}};
  lock = FileDescriptor{};
  EXPECT_TRUE(child_still_running(files_, task_));
  EXPECT_TRUE(test::eventually([&] { return child.was_killed(); }));
}

#ifndef __SANITIZE_ADDRESS__  // which itself needs descriptors, to look at memory through a pipe
TEST_F(ChildLock, ChildIsNotBelievedToBeGoneWhereThereAreNoDescriptorsToLookForIt) {
  const auto lock = take_child_lock(files_, task_);
  Bystander child{[&] { write_group(lock.get()); }};
  ASSERT_TRUE(test::eventually([&] { return group_is_written(); }));
  const FileDescriptor highest{::dup(lock.get())};
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  bool was_seen = false;
  for (int more = 0; more < 20 && !was_seen; ++more) {
    rlimit few{static_cast<rlim_t>(highest.get() + more), before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
    const bool any = any_child_locks(files_), running = child_still_running(files_, task_);
    ::setrlimit(RLIMIT_NOFILE, &before);
    was_seen = test::eventually([&] { return child.was_killed(); }, std::chrono::milliseconds{50});
    EXPECT_TRUE(any) << more;
    EXPECT_TRUE(running) << more;
  }
  EXPECT_TRUE(was_seen);
}
#endif

TEST_F(ChildLock, ProcessesThatOnlyLookAtTheFileAreNotKilled) {
  auto lock = take_child_lock(files_, task_);
  Bystander child{[&] { write_group(lock.get()); }};
  ASSERT_TRUE(test::eventually([&] { return group_is_written(); }));
  lock = FileDescriptor{};
  auto ready = files_.folder() + "/ready";
  Bystander looker{[&] {
    ::open(path().c_str(), O_RDWR);
    ::close(::open(ready.c_str(), O_WRONLY | O_CREAT, 0600));
  }};
  ASSERT_TRUE(test::eventually([&] { return std::filesystem::exists(ready); }));
  EXPECT_TRUE(child_still_running(files_, task_));
  EXPECT_TRUE(test::eventually([&] { return child.was_killed(); }));
  EXPECT_TRUE(looker.lives_until_we_end_it());
}

TEST_F(ChildLock, GroupOfAnInnocentInTheFileIsNotKilled) {
  Bystander innocent{[] { ::setpgid(0, 0); }};
  auto lock = take_child_lock(files_, task_);
  Bystander child{[] {}};
  lock = FileDescriptor{};
  ASSERT_TRUE(test::eventually([&] { return ::getpgid(innocent.pid()) == innocent.pid(); }));
  std::ofstream{path(), std::ios::in} << innocent.pid();
  EXPECT_TRUE(child_still_running(files_, task_));
  EXPECT_TRUE(test::eventually([&] { return child.was_killed(); }));
  EXPECT_TRUE(innocent.lives_until_we_end_it());
}

TEST_F(ChildLock, StoppedWorkerWhoseChildIsGoneKeepsNobodyFromTheTask) {
  auto of_stopped_worker = take_child_lock(files_, task_);
  EXPECT_FALSE(child_still_running(files_, task_));
  auto of_next_attempt = take_child_lock(files_, task_);
  EXPECT_TRUE(of_next_attempt);
  drop_child_lock(files_, task_, of_stopped_worker.get());
  EXPECT_TRUE(any_child_locks(files_)) << "the file is the next attempt's";
}

TEST_F(ChildLock, SharedOneIsThatOfEveryAttemptThatItsProcessServes) {
  auto lock = make_shared_child_lock(files_);
  EXPECT_FALSE(any_child_locks(files_)) << "it serves none yet";
  Bystander child{[&] { write_group(lock.get()); }};
  share_child_lock(files_, task_, lock.get());
  drop_child_lock(files_, task_, lock.get());
  EXPECT_FALSE(any_child_locks(files_)) << "it served one that has ended";
  auto second = TaskId::make();
  share_child_lock(files_, second, lock.get());
  lock = FileDescriptor{};
  EXPECT_TRUE(child_still_running(files_, second));
  EXPECT_TRUE(test::eventually([&] { return child.was_killed(); }));
  EXPECT_FALSE(child_still_running(files_, second));
  EXPECT_FALSE(any_child_locks(files_));
}

TEST_F(ChildLock, AttemptThatAnEarlierProcessServesIsNotShared) {
  auto earlier = make_shared_child_lock(files_), later = make_shared_child_lock(files_);
  share_child_lock(files_, task_, earlier.get());
  EXPECT_THROW(share_child_lock(files_, task_, later.get()), EarlierAttemptRuns);
  EXPECT_THROW(take_child_lock(files_, task_), EarlierAttemptRuns);
  earlier = FileDescriptor{};
  share_child_lock(files_, task_, later.get());
  EXPECT_TRUE(any_child_locks(files_));
}

TEST_F(ChildLock, SharedOnesOfThoseThatAreGoneAreRemoved) {
  auto names = [&] {
    return std::distance(std::filesystem::directory_iterator{files_.attempts()}, {});
  };
  auto kept = make_shared_child_lock(files_);
  for (int i = 0; i < 3; ++i) make_shared_child_lock(files_);
  EXPECT_EQ(names(), 2) << "the one that is kept, and the last one";
  share_child_lock(files_, task_, kept.get());
  EXPECT_EQ(names(), 3) << "those that were made before are not removed";
}

}  // namespace
}  // namespace holdfast::sqlite
