#include "recovery/board.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "engines/sqlite/worker_files.hpp"
#include "recovery/fatal_signals.hpp"
#include "support/temp_store.hpp"

namespace holdfast::sqlite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class BoardTest : public testing::Test {
 protected:
  /// The board of a worker that ran `life` in a process of its own, to its end.
  Remains remains_of(const std::function<void(Board&)>& life) {
    pid_t child = ::fork();
    if (child == 0) {
      for (int fatal : {SIGSEGV, SIGBUS, SIGABRT}) std::signal(fatal, SIG_DFL);
      record_fatal_signals();
      Board board{files_, worker_, 4};
      life(board);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    signal_ = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return read_board(files_.worker(worker_));
  }

  void write(const std::string& content) {
    std::ofstream{files_.worker(worker_), std::ios::binary} << content;
  }

  test::TempStore folder_;
  SideFiles files_{folder_.database()};
  WorkerId worker_ = WorkerId::make();
  Lease lease_{TaskId::make(), Token{42}};
  int signal_ = 0;
};

/// Eats its stack.
int recurse(int depth) {
  volatile char some[1024] = {};
  some[0] = static_cast<char>(depth);
  return depth == 0 ? 0 : recurse(depth + 1) + some[0];
}

TEST_F(BoardTest, ShowsWhatRanWhenTheProcessWasKilled) {
  auto remains = remains_of([&](Board& board) {
    board.started(1, lease_);
    board.started(3, {TaskId::make(), Token{1}});
    board.finished(3);
    ::kill(::getpid(), SIGKILL);
  });
  EXPECT_TRUE(remains.readable);
  EXPECT_THAT(remains.running, ElementsAre(lease_));
  EXPECT_EQ(remains.evidence, "");
}

TEST_F(BoardTest, NamesTheSignalThatAHandlerDiedOfAndTheTask) {
  auto remains = remains_of([&](Board& board) {
    std::jthread handler{[&] {
      board.started(2, lease_);
      std::abort();
    }};
  });
  EXPECT_EQ(signal_, SIGABRT) << "the signal takes its course";
  EXPECT_EQ(remains.evidence,
            "ended by signal 6 (Aborted) in a handler (task " + lease_.id.text() + ")");
  EXPECT_THAT(remains.running, ElementsAre(lease_));
}

TEST_F(BoardTest, NamesTheSignalOfARunawayRecursion) {
  auto remains = remains_of([&](Board& board) {
    std::jthread handler{[&] {
      board.started(0, lease_);
      ::_exit(recurse(1));
    }};
  });
  EXPECT_EQ(signal_, SIGSEGV);
  EXPECT_THAT(remains.evidence, StartsWith("ended by signal 11 (Segmentation fault) in a handler"));
}

TEST_F(BoardTest, LaysNoSignalOfAnotherThreadAtAHandlersDoor) {
  auto remains = remains_of([&](Board& board) {
    std::jthread handler{[&] { board.started(2, lease_); }};
    handler.join();
    std::raise(SIGBUS);
  });
  EXPECT_EQ(signal_, SIGBUS);
  EXPECT_EQ(remains.evidence, "ended by signal 7 (Bus error)");
}

TEST_F(BoardTest, LaysNothingAtTheDoorOfWhatRunsElsewhere) {
  auto remains = remains_of([&](Board& board) {
    const auto id = worker_;
    worker_ = WorkerId::make();
    Board remote{files_, worker_, 1, 0, true};
    remote.started(0, lease_);
    std::filesystem::rename(files_.worker(worker_), files_.worker(id));
    board.not_alone(false);
    std::abort();
  });
  EXPECT_TRUE(remains.elsewhere());
  EXPECT_THAT(remains.running, ElementsAre(lease_, runs_elsewhere));
  EXPECT_EQ(remains.evidence, "ended by signal 6 (Aborted)");
}

TEST_F(BoardTest, LeavesSignalsAloneThatTheProgramHandles) {
  auto remains = remains_of([&](Board&) {
    std::signal(SIGFPE, [](int) { ::_exit(3); });
    record_fatal_signals();
    std::raise(SIGFPE);
  });
  EXPECT_EQ(signal_, 0);
  EXPECT_EQ(remains.evidence, "");
}

TEST_F(BoardTest, NamesTheLackOfMemoryThatTheHostHadMeanwhile) {
  { Board board{files_, worker_, 1, 3}; }
  auto path = files_.worker(worker_);
  EXPECT_EQ(read_board(path, 3).evidence, "");
  EXPECT_THAT(read_board(path, 4).evidence,
              StartsWith("the kernel's out-of-memory killer struck 1 time on this host"));
  EXPECT_THAT(read_board(path, 5).evidence, HasSubstr(" 2 times "));
}

TEST_F(BoardTest, LaysASignalAtNoLackOfMemory) {
  remains_of([](Board&) { std::abort(); });
  auto kills = oom_kills() + 1;
  EXPECT_EQ(read_board(files_.worker(worker_), kills).evidence, "ended by signal 6 (Aborted)");
}

TEST_F(BoardTest, CountsWhatTheKernelSaysAboutMemory) {
  auto statistics = folder_.folder() / "vmstat";
  std::ofstream{statistics} << "pgfault 7\nnuma_oom_kill 9\noom_kill 12\nswap_ra 5\n";
  EXPECT_EQ(oom_kills(statistics), 12u);
  std::ofstream{statistics} << "oom_kill 4";
  EXPECT_EQ(oom_kills(statistics), 4u);
  std::ofstream{statistics} << "pgfault 7\n" << std::string(100'000, 'x') << " 1\noom_kill 2\n";
  EXPECT_EQ(oom_kills(statistics), 2u);
  std::ofstream{statistics} << "pgfault 7\n";
  EXPECT_EQ(oom_kills(statistics), 0u);
  EXPECT_EQ(oom_kills(folder_.folder() / "nothing"), 0u);
}

TEST_F(BoardTest, IsNotBelievedWhenItIsGarbage) {
  EXPECT_FALSE(read_board(files_.worker(worker_)).readable) << "missing";
  for (const std::string& content : {std::string{}, std::string{"hfboard\n"}, std::string(64, '\0'),
                                     std::string(4096, '\xff')}) {
    write(content);
    auto remains = read_board(files_.worker(worker_));
    EXPECT_FALSE(remains.readable) << content.size() << " bytes";
    EXPECT_THAT(remains.running, IsEmpty());
  }
}

TEST_F(BoardTest, IsNotBelievedWhenItIsCutShort) {
  remains_of([&](Board& board) { board.started(3, lease_); });
  auto path = files_.worker(worker_);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_FALSE(read_board(path).readable);
}

TEST_F(BoardTest, IsLockedWhileTheWorkerLives) {
  {
    Board board{files_, worker_, 1};
    EXPECT_EQ(WorkerFiles::look(files_).locked(worker_), true);
  }
  EXPECT_EQ(WorkerFiles::look(files_).locked(worker_), false);
  EXPECT_EQ(WorkerFiles::look(files_).locked(WorkerId::make()), std::nullopt);
}

TEST_F(BoardTest, HalfMadeOnesAreRemovedWhenNobodyCanBeAtWorkOnThem) {
  auto old = files_.workers() + "/.new-old", fresh = files_.workers() + "/.new-fresh";
  std::ofstream{old} << "";
  std::ofstream{fresh} << "";
  auto an_hour_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours{1};
  std::filesystem::last_write_time(old, an_hour_ago);
  WorkerFiles::look(files_);
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(fresh));
}

}  // namespace
}  // namespace holdfast::sqlite
