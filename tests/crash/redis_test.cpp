#include <csignal>
#include <cstdlib>
#include <iostream>
#include <random>

#include "crash/crash_test.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

/// The same driver and the same oracle on a store in Redis. The server writes and syncs everything
/// before it answers, so it may be killed, too.
class RedisCrash : public CrashTest {
 protected:
  RedisCrash() { ::setenv("XDG_RUNTIME_DIR", store_.folder().c_str(), 1); }
  std::string address() const override { return server_.address(); }

  unsigned random(unsigned least, unsigned most) {
    return std::uniform_int_distribution<unsigned>{least, most}(source_);
  }
  Process start_worker(const Words& more = {}) {
    Words words{"crashes=1000", "concurrency=4"};
    words.insert(words.end(), more.begin(), more.end());
    return start("work", words);
  }

  RedisServer server_{{.append_only = true}};
  std::mt19937 source_{std::random_device{}()};
};

struct Scene {
  std::string point;
  std::string mode;
  std::vector<std::string> words{};
  bool worked_off = false;
  bool with_corpse = false;
  Expectations expectations{};
};

/// Every place where the engine writes. What the others name are files of SQLite.
std::vector<Scene> scenes() {
  std::vector<Scene> all;
  auto both = [&](const std::string& what, Scene scene, const char* last = "commit") {
    for (auto when : {"_before_", "_after_"}) {
      scene.point = what + when + last;
      all.push_back(scene);
    }
  };
  std::vector<std::string> until_empty{"until_empty=1"};
  both("enqueue", {.point = {}, .mode = "enqueue", .words = {"count=5"}});
  for (auto what : {"exchange", "record"})
    both(what, {.point = {}, .mode = "work", .words = until_empty});
  both("renew", {.point = {}, .mode = "work", .words = {"until_empty=1", "interval=50"}});
  for (auto what : {"enlist", "retire"})
    both(what, {.point = {}, .mode = "work", .words = until_empty}, "row");
  for (auto what : {"bury", "reclaim", "report"})
    both(what, {.point = {}, .mode = "recover", .with_corpse = true});
  both("clear", {.point = {}, .mode = "recover", .with_corpse = true}, "files");
  both("move", {.point = {}, .mode = "cancel"});
  both("prune", {.point = {},
                 .mode = "prune",
                 .words = {"forget=1"},
                 .worked_off = true,
                 .expectations = {.may_be_pruned = true}});
  return all;
}

class RedisKillPoints : public RedisCrash, public testing::WithParamInterface<Scene> {};

TEST_P(RedisKillPoints, DyingThereLosesNothing) {
  const auto& scene = GetParam();
  auto first = enqueue(10, {"count=10", "ms=30", "attempts=100"}).at(0);
  if (scene.worked_off) work_it_off();
  if (scene.with_corpse) {
    auto worker = start("work");
    ASSERT_TRUE(comes_to(Said::started, first));
    worker.kill();
  }
  auto victim = start(scene.mode, scene.words, {{"HOLDFAST_KILL_AT", scene.point}});
  auto ending = victim.wait();
  ASSERT_TRUE(ending) << "hangs";
  ASSERT_EQ(ending->signal, SIGKILL) << "not reached by '" << scene.mode << "'\n" << victim.err();
  finish(scene.mode, scene.words);
  work_it_off();
  expect_clean(scene.expectations);
}

INSTANTIATE_TEST_SUITE_P(Every, RedisKillPoints, testing::ValuesIn(scenes()),
                         [](const auto& scene) { return scene.param.point; });

TEST_F(RedisCrash, RandomKillsOfWorkersEnqueuersAndTheServerLoseNothing) {
  constexpr unsigned kills = 100;
  auto start_enqueuer = [&] {
    return start("enqueue", {"count=1000000", "batch=5", "pause=20", "attempts=1000"});
  };
  std::vector<Process> workers;
  // After a restart of the server nothing proves that a worker is dead, so leases are short.
  const Words short_leases{"interval=300", "detection=300"};
  for (int i = 0; i < 3; ++i) workers.push_back(start_worker(short_leases));
  auto enqueuer = start_enqueuer();
  for (unsigned kill = 0; kill < kills; ++kill) {
    auto victim = random(0, 4);
    auto& watched = victim < 3 ? workers[victim] : enqueuer;
    watched.wait(std::chrono::milliseconds{random(20, 250)});
    if (victim == 4) server_.restart();
    if (victim < 3) workers[victim].kill(), workers[victim] = start_worker(short_leases);
    // It ends when it cannot reach the server; what it had not been told of is not counted.
    if (victim >= 3) enqueuer.kill(), enqueuer = start_enqueuer();
  }
  enqueuer.kill();
  for (auto& worker : workers) worker.signal(SIGTERM);
  for (auto& worker : workers) EXPECT_TRUE(worker.wait()) << worker.err();
  work_it_off({"crashes=1000", "interval=300", "detection=300"});
  expect_clean();
  auto completed = Inspector{open_store()}.count({.states = {TaskState::completed}});
  std::cout << kills << " kills, " << completed << " tasks completed\n";
  EXPECT_GT(completed, 100);
  auto integrity = Inspector{open_store()}.check_integrity(true);
  EXPECT_TRUE(integrity.passed) << integrity.damage.at(0).what;
}

TEST_F(RedisCrash, ZombiesAreRefused) {
  const Words words{"interval=150", "detection=100", "concurrency=4"};
  std::vector<Process> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(start("work", words));
  auto enqueuer = start("enqueue", {"count=1000000", "batch=4", "pause=20", "ms=30",
                                    "manner=stubborn", "attempts=1000"});
  for (int round = 0; round < 12; ++round) {
    auto& zombie = workers[static_cast<std::size_t>(round % 3)];
    zombie.signal(SIGSTOP);
    // Three times the interval is the lease; then somebody must look.
    ASSERT_FALSE(enqueuer.wait(std::chrono::milliseconds{900})) << enqueuer.err();
    zombie.signal(SIGCONT);
  }
  enqueuer.kill();
  for (auto& worker : workers) {
    worker.signal(SIGTERM);
    ASSERT_TRUE(worker.wait());
  }
  work_it_off();
  expect_clean();
  EXPECT_GT(Inspector{open_store()}.stale_writes_refused(), 0);
}

TEST_F(RedisCrash, KilledWorkersTaskRunsElsewhereWithinASecond) {
  using std::chrono::microseconds;
  std::vector<microseconds> delays;
  auto victim = start_worker();
  for (int round = 0; round < 5; ++round) {
    auto id = enqueue(1, {"ms=1500", "attempts=100"}).at(0);
    ASSERT_TRUE(comes_to(Said::started, id));
    auto survivor = start_worker();
    ASSERT_TRUE(eventually([&] {
      for (const auto& worker : Inspector{open_store()}.workers())
        if (worker.pid == survivor.pid()) return true;
      return false;
    }));
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
  std::cout << "kill to running again, median of 5: " << delays[2].count() << " us\n";
  EXPECT_LT(delays[2], std::chrono::seconds{1});
}

}  // namespace
}  // namespace holdfast::test
