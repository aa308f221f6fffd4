#include "engines/sqlite/wake.hpp"

#include <gmock/gmock.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "engines/sqlite/death_watch.hpp"
#include "recovery/board.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::sqlite {
namespace {

using std::chrono::seconds;

class WakeTest : public testing::Test {
 protected:
  test::TempStore folder_;
  SideFiles files_{folder_.database()};
  Events events_;
  WorkWatch here_{files_, events_};
  WorkWatch there_{files_, events_};
};

TEST_F(WakeTest, NothingHappensInVain) {
  EXPECT_EQ(here_.wait(Millis{0}), Wake::nothing);
  EXPECT_EQ(here_.wait(Millis{10}), Wake::nothing);
}

TEST_F(WakeTest, AnnouncementsAreHeardByOthersAndByOneself) {
  here_.announce_work();
  EXPECT_EQ(there_.wait(seconds{30}), Wake::work);
  EXPECT_EQ(here_.wait(seconds{30}), Wake::work);
  here_.announce_control();
  EXPECT_EQ(there_.wait(seconds{30}), Wake::control);
}

TEST_F(WakeTest, NeitherKindHidesTheOther) {
  for (int i = 0; i < 3; ++i) here_.announce_work(), here_.announce_control();
  EXPECT_EQ(there_.wait(seconds{30}), Wake::control);
  EXPECT_EQ(there_.wait(seconds{30}), Wake::work);
  EXPECT_EQ(there_.wait(Millis{0}), Wake::nothing) << "many announcements wake once";
}

TEST_F(WakeTest, EveryThreadThatWaitsHears) {
  auto began = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> waiting;
    for (int i = 0; i < 4; ++i)
      waiting.emplace_back([&] { EXPECT_EQ(there_.wait(seconds{60}), Wake::work); });
    here_.announce_work();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds{30}) << "not by running out of time";
}

TEST_F(WakeTest, InterruptEndsEveryWait) {
  std::vector<std::jthread> waiting;
  for (int i = 0; i < 4; ++i)
    waiting.emplace_back([&] { EXPECT_EQ(here_.wait(std::chrono::hours{1}), Wake::nothing); });
  here_.interrupt();
}

/// As where the user's limit of watches is reached.
Inotify unusable() {
  Inotify inotify;
  inotify.watch("/nowhere", IN_MODIFY);
  return inotify;
}

TEST_F(WakeTest, WithoutTheKernelsHelpItLooksByItselfAndSaysSoOnce) {
  std::vector<std::string> said;
  events_.subscribe([&](const Event& event) { said.push_back(to_text(event)); });
  WorkWatch polling{files_, events_, true, unusable()};
  auto began = std::chrono::steady_clock::now();
  // It cannot know what happened, so it may have been anything.
  EXPECT_EQ(polling.wait(seconds{60}), Wake::control);
  EXPECT_EQ(polling.wait(seconds{60}), Wake::work);
  EXPECT_EQ(polling.wait(seconds{60}), Wake::control);
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds{30});
  EXPECT_THAT(said, testing::ElementsAre(testing::HasSubstr("looking every 100 ms")));
  polling.announce_work();
  EXPECT_EQ(here_.wait(seconds{30}), Wake::work) << "others hear as ever";
  std::jthread waiting{[&] {
    while (polling.wait(std::chrono::hours{1}) != Wake::nothing) continue;
  }};
  polling.interrupt();
}

class DeathWatchTest : public testing::Test {
 protected:
  /// Starts a process that holds a worker's file until it is killed.
  pid_t start_worker() {
    auto worker = WorkerId::make();
    pid_t child = ::fork();
    if (child == 0) {
      Board board{files_, worker, 2};
      for (;;) ::pause();
    }
    EXPECT_TRUE(
        test::eventually([&] { return ::access(files_.worker(worker).c_str(), F_OK) == 0; }));
    return child;
  }
  static void kill(pid_t worker) {
    ::kill(worker, SIGKILL);
    ::waitpid(worker, nullptr, 0);
  }

  test::TempStore folder_;
  SideFiles files_{folder_.database()};
};

TEST_F(DeathWatchTest, KillIsNoticedWithinASecond) {
  DeathWatch watch{files_};
  for (int round = 0; round < 5; ++round) {
    auto worker = start_worker();
    EXPECT_FALSE(watch.wait(Millis{0}, {}));
    std::chrono::steady_clock::time_point killed;
    std::jthread killer{[&] {
      killed = std::chrono::steady_clock::now();
      kill(worker);
    }};
    EXPECT_TRUE(watch.wait(seconds{30}, {}));
    auto noticed = std::chrono::steady_clock::now();
    killer.join();
    EXPECT_LT(noticed - killed, seconds{1});
    for (const auto& entry : std::filesystem::directory_iterator{files_.workers()})
      std::filesystem::remove(entry.path());
  }
}

TEST_F(DeathWatchTest, KillIsNoticedWithoutTheKernelsHelp) {
  DeathWatch watch{files_, unusable()};
  EXPECT_FALSE(watch.wait(Millis{0}, {}));
  auto worker = start_worker();
  EXPECT_FALSE(watch.wait(Millis{0}, {}));
  kill(worker);
  EXPECT_TRUE(watch.wait(seconds{30}, {}));
}

TEST_F(DeathWatchTest, DeathBeforeTheWatchBeganIsNoticedToo) {
  kill(start_worker());
  DeathWatch watch{files_};
  EXPECT_TRUE(watch.wait(Millis{0}, {}));
}

TEST_F(DeathWatchTest, DeathThatIsNotClearedAwayIsToldAgainButNotAllTheTime) {
  kill(start_worker());
  DeathWatch watch{files_};
  auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(watch.wait(seconds{30}, {}));
  EXPECT_TRUE(watch.wait(seconds{30}, {}));
  EXPECT_GE(std::chrono::steady_clock::now() - began, Millis{90});
}

TEST_F(DeathWatchTest, StoppedWorkerIsNotDead) {
  auto worker = start_worker();
  ::kill(worker, SIGSTOP);
  DeathWatch watch{files_};
  EXPECT_FALSE(watch.wait(Millis{250}, {}));
  kill(worker);
  EXPECT_TRUE(watch.wait(seconds{30}, {}));
}

}  // namespace
}  // namespace holdfast::sqlite
