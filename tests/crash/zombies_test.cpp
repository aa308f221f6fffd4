#include <csignal>

#include "crash/crash_test.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

/// Workers that are stopped for longer than their lease and then go on as if nothing had happened.
class Zombies : public CrashTest {
 protected:
  static constexpr const char* short_lease = "interval=150";

  /// Stops a worker in the middle of its orders, lets another take them, and wakes it up again.
  /// Returns what the zombie had to say.
  std::string raise_one() {
    auto ids = enqueue(4, {"ms=300", "manner=stubborn", "attempts=1000"});
    auto zombie = start("work", {short_lease, "concurrency=4"});
    for (auto id : ids) EXPECT_TRUE(comes_to(Said::recorded, id));
    // Stopped in the middle of a write it would stop everybody; that is another test's matter.
    for (zombie.stop(); being_written(); zombie.stop()) zombie.signal(SIGCONT);
    auto heir = start("work", {short_lease, "detection=100"});
    EXPECT_TRUE(eventually([&] { return taken_over(ids); }));
    zombie.signal(SIGCONT);
    for (auto id : ids) EXPECT_TRUE(comes_to(Said::settled, id));
    // It goes on: under a new identity it takes new work.
    heir.signal(SIGTERM);
    EXPECT_TRUE(heir.wait());
    for (auto id : enqueue(4, {"ms=1", "attempts=1000"})) EXPECT_TRUE(comes_to(Said::settled, id));
    zombie.signal(SIGTERM);
    auto ending = zombie.wait();
    EXPECT_TRUE(ending && ending->ok()) << zombie.err();
    return zombie.err();
  }

  /// At least one of the tasks runs under a second token.
  bool taken_over(const std::vector<TaskId>& ids) const {
    std::map<TaskId, std::set<Token>> tokens;
    for (const auto& line : said())
      if (line.said == Said::started) tokens[line.task].insert(line.token);
    return std::any_of(ids.begin(), ids.end(), [&](auto id) { return tokens[id].size() > 1; });
  }
};

TEST_F(Zombies, AreRefusedSaySoAndGoOnUnderANewIdentity) {
  auto words = raise_one();
  work_it_off();
  expect_clean();
  EXPECT_GT(Inspector{open_store()}.stale_writes_refused(), 0);
  EXPECT_THAT(words, HasSubstr("refused"));
}

TEST_F(Zombies, ByTheDozenAreAllRefused) {
  std::vector<Process> workers;
  for (int i = 0; i < 3; ++i)
    workers.push_back(start("work", {short_lease, "detection=100", "concurrency=4"}));
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

/// The same with an engine that does not compare tokens. If the oracle saw nothing here, its
/// silence elsewhere would mean nothing.
class UnguardedZombies : public Zombies {
 protected:
  std::string program() const override { return CRASH_DRIVER_UNGUARDED; }
};

TEST_F(UnguardedZombies, AreSeenByTheOracle) {
  for (int round = 0; round < 5; ++round) {
    raise_one();
    work_it_off();
    for (const auto& finding : ask_oracle())
      if (finding.defect == Defect::stale_accepted || finding.defect == Defect::settled_twice)
        return;
  }
  FAIL() << "stale writes were accepted, and the oracle did not see one";
}

}  // namespace
}  // namespace holdfast::test
