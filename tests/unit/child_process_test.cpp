#include "exec/child_process.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <csignal>
#include <stdexcept>

#include "exec/exec_handler.hpp"
#include "support/fake_attempt.hpp"

namespace holdfast {
namespace {

/// A process that others started, watched until its end; it may become anybody's child meanwhile.
class Watched {
 public:
  explicit Watched(int pid)
      : pid_{pid}, descriptor_{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))} {}
  bool ended_before_deadline() const {
    if (!descriptor_) return errno == ESRCH;
    pollfd watched{descriptor_.get(), POLLIN, 0};
    return ::poll(&watched, 1, 10'000) == 1;
  }
  bool is_running() const { return ::kill(pid_, 0) == 0 && !ended_now(); }

 private:
  bool ended_now() const {
    pollfd watched{descriptor_.get(), POLLIN, 0};
    return ::poll(&watched, 1, 0) == 1;
  }
  int pid_;
  Descriptor descriptor_;
};

std::string contents(int file) {
  std::string text(64, '\0');
  text.resize(static_cast<std::size_t>(::pread(file, text.data(), text.size(), 0)));
  return text;
}

TEST(ChildProcess, LeavesNoGrandchildBehind) {
  FakeAttempt attempt;
  exec_handler({{"trap '' TERM; sleep 1000 & echo $!"}})(attempt);
  ASSERT_EQ(attempt.logged.size(), 1U);
  EXPECT_TRUE(Watched{std::stoi(attempt.logged[0])}.ended_before_deadline());
}

TEST(ChildProcess, LeavesNoZombie) {
  FakeAttempt attempt;
  exec_handler({{"exit 0"}})(attempt);
  exec_handler({{"false", "x"}})(attempt);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(ChildProcess, EndsWhenItsSupervisionIsCutShort) {
  FakeAttempt attempt;
  attempt.on_log = [](std::string_view) { throw std::runtime_error{"the store is gone"}; };
  EXPECT_THROW(exec_handler({{"echo $$; exec sleep 1000"}})(attempt), std::runtime_error);
  ASSERT_EQ(attempt.logged.size(), 1U);
  EXPECT_EQ(::kill(std::stoi(attempt.logged[0]), 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(ChildProcess, InheritsTheLockAndWritesItsGroupIntoIt) {
  FakeAttempt attempt;
  Descriptor lock{::memfd_create("lock", MFD_CLOEXEC)};
  std::string before = std::string(32, '.') + "what the worker wrote";
  ASSERT_GT(::write(lock.get(), before.data(), before.size()), 0);
  attempt.lock = lock.get();
  exec_handler({{"echo $$; ls -l /proc/self/fd/3"}})(attempt);
  ASSERT_EQ(attempt.logged.size(), 2U);
  auto group = attempt.logged[0] + "\n";
  EXPECT_EQ(contents(lock.get()), group + before.substr(group.size()));
  EXPECT_THAT(attempt.logged[1], testing::HasSubstr("memfd:lock"));
}

TEST(ChildProcess, InheritsNothingElse) {
  Descriptor forgotten{::fcntl(STDERR_FILENO, F_DUPFD, 50)};  // without close-on-exec
  FakeAttempt attempt;
  exec_handler({{"ls", "/proc/self/fd"}})(attempt);
  // 3 is the folder that ls reads.
  EXPECT_THAT(attempt.logged, testing::ElementsAre("0", "1", "2", "3"));
}

TEST(ChildProcess, FindsNoSignalBlockedOrIgnored) {
  auto before = std::signal(SIGPIPE, SIG_IGN);
  sigset_t usr1, old;
  ::sigemptyset(&usr1);
  ::sigaddset(&usr1, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &usr1, &old);
  FakeAttempt attempt;
  exec_handler({{"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"}})(attempt);
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  std::signal(SIGPIPE, before);
  EXPECT_THAT(attempt.logged,
              testing::ElementsAre("SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000"));
}

TEST(ChildProcess, DiesWithItsWorker) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  pid_t worker = ::fork();
  ASSERT_GE(worker, 0);
  if (worker == 0) {
    FakeAttempt attempt;
    attempt.on_log = [&](std::string_view pid) {
      if (::write(pipe[1], pid.data(), pid.size()) < 0) ::_exit(1);
    };
    exec_handler({{"echo $$; exec sleep 1000"}})(attempt);
    ::_exit(0);
  }
  char pid[32] = {};
  ASSERT_GT(::read(pipe[0], pid, sizeof pid - 1), 0);
  ::close(pipe[0]);
  ::close(pipe[1]);
  Watched program{std::stoi(pid)};
  EXPECT_TRUE(program.is_running());
  ::kill(worker, SIGKILL);
  ::waitpid(worker, nullptr, 0);
  EXPECT_TRUE(program.ended_before_deadline());
}

}  // namespace
}  // namespace holdfast
