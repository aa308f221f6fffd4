#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <random>

#include "crash/crash_test.hpp"

namespace holdfast::test {
namespace {

unsigned from_environment(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text ? static_cast<unsigned>(std::stoul(text)) : otherwise;
}

/// Workers and an enqueuer that are killed at random moments, and started again. More kills with
/// HOLDFAST_CHAOS_KILLS; the same course of kills with HOLDFAST_CHAOS_SEED.
class Chaos : public CrashTest {
 protected:
  Chaos() { std::cout << "HOLDFAST_CHAOS_SEED=" << seed_ << "\n"; }

  unsigned random(unsigned least, unsigned most) {
    return std::uniform_int_distribution<unsigned>{least, most}(source_);
  }

  /// Random kills hit innocents again and again, so nobody is given up for it.
  Process start_worker(const Words& more = {}) {
    Words words{"crashes=1000", "concurrency=4"};
    words.insert(words.end(), more.begin(), more.end());
    return start("work", words);
  }
  Process start_enqueuer() {
    return start("enqueue", {"count=1000000", "batch=5", "pause=20", "attempts=1000"});
  }

  bool working(pid_t pid) const {
    auto workers = Inspector{open_store()}.workers();
    return std::any_of(workers.begin(), workers.end(), [&](const auto& worker) {
      return worker.pid == pid && worker.state == WorkerState::running;
    });
  }

  /// Lets the workers finish what they have, then a fresh one everything else.
  void calm_down(std::vector<Process>& workers) {
    for (auto& worker : workers) worker.signal(SIGTERM);
    for (auto& worker : workers) {
      auto ending = worker.wait();
      EXPECT_TRUE(ending && ending->left()) << worker.err();
    }
    work_it_off({"crashes=1000"});
  }

  unsigned seed_ = from_environment("HOLDFAST_CHAOS_SEED", std::random_device{}());
  std::mt19937 source_{seed_};
};

TEST_F(Chaos, RandomKillsLoseNothing) {
  auto kills = from_environment("HOLDFAST_CHAOS_KILLS", 200);
  std::vector<Process> workers;
  for (int i = 0; i < 4; ++i) workers.push_back(start_worker());
  auto enqueuer = start_enqueuer();
  for (unsigned kill = 0; kill < kills; ++kill) {
    // The moment is what is random: a process is watched for so long, and it must not end.
    auto victim = random(0, 4);
    auto& process = victim == 4 ? enqueuer : workers[victim];
    auto early = process.wait(std::chrono::milliseconds{random(20, 450)});
    ASSERT_FALSE(early) << "ended by itself, signal " << early->signal << "\n" << process.err();
    process.kill();
    process = victim == 4 ? start_enqueuer() : start_worker();
  }
  enqueuer.kill();
  calm_down(workers);
  expect_clean();
  auto completed = Inspector{open_store()}.count({.states = {TaskState::completed}});
  std::cout << kills << " kills, " << completed << " tasks completed\n";
  EXPECT_GT(completed, 100);
}

TEST_F(Chaos, KilledWorkersTaskRunsElsewhereWithinASecond) {
  using std::chrono::microseconds;
  std::vector<microseconds> delays;
  auto victim = start_worker();
  for (int round = 0; round < 5; ++round) {
    auto id = enqueue(1, {"ms=1500", "attempts=100"}).at(0);
    ASSERT_TRUE(comes_to(Said::started, id));
    auto survivor = start_worker();
    ASSERT_TRUE(eventually([&] { return working(survivor.pid()); }));
    auto killed = std::chrono::duration_cast<microseconds>(
        std::chrono::steady_clock::now().time_since_epoch());
    victim.kill();
    auto starts = [&] {
      std::vector<microseconds> moments;
      for (const auto& line : said())
        if (line.said == Said::started && line.task == id) moments.push_back(line.at);
      return moments;
    };
    ASSERT_TRUE(eventually([&] { return starts().size() == 2; }));
    delays.push_back(starts().back() - killed);
    ASSERT_TRUE(comes_to(Said::settled, id));
    victim = std::move(survivor);
  }
  std::sort(delays.begin(), delays.end());
  RecordProperty("median_us", static_cast<int>(delays[2].count()));
  std::cout << "kill to running again, median of 5: " << delays[2].count() << " us\n";
  EXPECT_LT(delays[2], std::chrono::seconds{1});
}

}  // namespace
}  // namespace holdfast::test
