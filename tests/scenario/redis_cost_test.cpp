#include <gmock/gmock.h>
#include <poll.h>

#include <holdfast/inspector.hpp>

#include "scenario/redis_scenario.hpp"

/// How much the server is asked to do: it does everything in one thread, so everybody waits for it.
namespace holdfast::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

TEST_F(RedisScenario, ABusyWorkerMakesFewSteps) {
  RedisServer server;
  auto engine = open(server.address());
  enqueue(engine, 4'000);
  Tasks tasks{engine};
  tasks.on_json("count", [](Attempt&) -> Outcome {
    ::poll(nullptr, 0, 1);  // it works for a millisecond
    return done;
  });
  server.call({"CONFIG", "RESETSTAT"});
  auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(run(tasks, {.queues = {}, .concurrency = 20, .until_empty = true}).completed, 4'000);
  auto took = std::chrono::steady_clock::now() - began;
  auto stats = server.call({"INFO", "commandstats"}).string();
  std::string_view before = "cmdstat_evalsha:calls=";
  auto at = stats.find(before);
  ASSERT_NE(at, std::string::npos);
  // Until it knows how long tasks take, and when few are left, it does not wait.
  constexpr int others = 150;
  EXPECT_LT(std::stoi(stats.substr(at + before.size())), took / Millis{4} + others);
}

TEST_F(RedisScenario, WhoHasNothingToPruneReadsNoRecords) {
  RedisServer server;
  auto engine = open(server.address());
  {
    CountingWorker worker{server.address()};
    enqueue(engine, 300);
    ASSERT_TRUE(completes(engine, 300));
  }
  server.call({"CONFIG", "RESETSTAT"});
  EXPECT_EQ(engine.parts().admin().prune({}), 0);
  // Everybody waits for a script: one that reads a thousand records to find nothing is in the way.
  EXPECT_THAT(server.call({"INFO", "commandstats"}).string(), Not(HasSubstr("cmdstat_hmget")));
  EXPECT_EQ(engine.parts().admin().prune({.max_finished = 100}), 200);
}

TEST_F(RedisScenario, PlainTasksAreClaimedAndSettledWithoutReadingTheirRecords) {
  RedisServer server;
  auto engine = open(server.address());
  auto worker = engine.parts().workers().enlist(WorkerProfile{{}, {"count"}, 4, seconds{60}});
  auto exchange = [&](Exchange what) { return engine.parts().tasks().exchange(what); };
  auto claim = [&](int limit) {
    ClaimRequest request{.worker = worker->id(), .kinds = {"count"}, .limit = limit};
    return exchange({.settle = {}, .claim = request}).claimed;
  };
  auto settle = [&](std::span<const Claimed> some) {
    Exchange what;
    for (const auto& one : some) what.settle.push_back({.lease = one.lease, .attempt = 1});
    EXPECT_THAT(exchange(what).settled, testing::Each(Settled::accepted));
  };
  auto has_read = [&] {
    auto stats = server.call({"INFO", "commandstats"}).string();
    server.call({"CONFIG", "RESETSTAT"});
    return stats.find("cmdstat_hmget") != std::string::npos;
  };
  enqueue(engine, 600);
  has_read();
  auto claimed = claim(500);
  ASSERT_EQ(claimed.size(), 500u);
  std::span all{claimed};
  settle(all.first(300));
  EXPECT_FALSE(has_read());
  // Where one was touched by somebody else, they are looked at.
  Inspector{engine}.cancel({.ids = {claimed[300].lease.id}});
  has_read();
  settle(all.subspan(301));
  EXPECT_TRUE(has_read());
  auto rest = Inspector{engine}.tasks({.states = {TaskState::pending}});
  ASSERT_FALSE(rest.empty());
  Inspector{engine}.cancel({.ids = {rest[0].id}});
  has_read();
  EXPECT_EQ(claim(500).size(), 99u);
  EXPECT_TRUE(has_read());
}

}  // namespace
}  // namespace holdfast::test
