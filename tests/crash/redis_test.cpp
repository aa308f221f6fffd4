#include <csignal>
#include <iostream>
#include <random>

#include "crash/crash_test.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

/// The server itself is killed, too. It writes and syncs everything before it answers.
class RedisServerKills : public CrashTest {
 protected:
  std::string address() const override { return server_.address(); }

  unsigned random(unsigned least, unsigned most) {
    return std::uniform_int_distribution<unsigned>{least, most}(source_);
  }
  /// After a restart of the server nothing proves that a worker is dead, so leases are short.
  Process start_worker() {
    return start("work", {"crashes=1000", "concurrency=4", "interval=300", "detection=300"});
  }
  Process start_enqueuer() {
    return start("enqueue", {"count=1000000", "batch=5", "pause=20", "attempts=1000"});
  }

  RedisServer server_{{.append_only = true}};
  std::mt19937 source_{std::random_device{}()};
};

TEST_F(RedisServerKills, AmongKillsOfWorkersAndEnqueuersLoseNothing) {
  constexpr unsigned kills = 100;
  std::vector<Process> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(start_worker());
  auto enqueuer = start_enqueuer();
  for (unsigned kill = 0; kill < kills; ++kill) {
    auto victim = random(0, 4);
    auto& watched = victim < 3 ? workers[victim] : enqueuer;
    watched.wait(std::chrono::milliseconds{random(20, 250)});
    if (victim == 4) server_.restart();
    if (victim < 3) workers[victim].kill(), workers[victim] = start_worker();
    // It ends by itself when it cannot reach the server; then it was not told of its last tasks.
    if (victim >= 3) enqueuer.kill(), enqueuer = start_enqueuer();
  }
  enqueuer.kill();
  for (auto& worker : workers) worker.signal(SIGTERM);
  for (auto& worker : workers) EXPECT_TRUE(worker.wait()) << worker.err();
  // What was held by one that died before the server did is taken back by age, which whoever finds
  // nothing else to do does not wait for.
  EXPECT_TRUE(eventually([&] {
    work_it_off({"crashes=1000", "interval=300", "detection=300"});
    return Inspector{open_store()}.count({.states = {TaskState::running}}) == 0;
  }));
  expect_clean();
  auto completed = Inspector{open_store()}.count({.states = {TaskState::completed}});
  std::cout << kills << " kills, " << completed << " tasks completed\n";
  EXPECT_GT(completed, 100);
  auto integrity = Inspector{open_store()}.check_integrity(true);
  EXPECT_TRUE(integrity.passed) << integrity.damage.at(0).what;
}

}  // namespace
}  // namespace holdfast::test
