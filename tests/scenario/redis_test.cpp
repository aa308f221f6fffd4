#include <gmock/gmock.h>
#include <poll.h>

#include <atomic>
#include <csignal>
#include <future>
#include <thread>

#include <holdfast/broker.hpp>

#include "engines/redis/server.hpp"
#include "scenario/redis_scenario.hpp"

namespace holdfast::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(RedisScenario, WorkerGoesOnAfterARestartAndNothingIsLost) {
  RedisServer server{{.append_only = true}};
  auto engine = open(server.address());
  CountingWorker worker{server.address()};
  enqueue(engine, 5);
  ASSERT_TRUE(completes(engine, 5));
  server.restart();
  EXPECT_TRUE(completes(engine, 5)) << "what was done is still known";
  enqueue(engine, 5);
  EXPECT_TRUE(completes(engine, 10));
}

TEST_F(RedisScenario, AWorkerThatStartsWhileTheServerIsAwayWaitsForIt) {
  RedisServer server{{.append_only = true}};
  auto engine = open(server.address());
  enqueue(engine, 5);
  std::atomic<bool> waits{false};
  engine.events().subscribe([&](const Event& event) {
    if (std::holds_alternative<StoreTrouble>(event)) waits = true;
  });
  Tasks tasks{engine};
  tasks.on_json("count", [](Attempt&) -> Outcome { return done; });
  server.kill();
  auto completed = std::async(std::launch::async, [&] {
    return run(tasks, {.queues = {}, .until_empty = true}).completed;
  });
  EXPECT_TRUE(eventually([&] { return waits.load(); }));
  server.start();
  EXPECT_EQ(completed.get(), 5);
}

TEST_F(RedisScenario, ACancelReachesAWorkerThatGathersSettlements) {
  RedisServer server;
  auto engine = open(server.address());
  std::atomic<bool> began{false}, stopped{false};
  std::atomic<int> ran{0};
  Tasks tasks{engine};
  tasks.on_json("long", [&](Attempt& attempt) -> Outcome {
    began = true;
    while (!attempt.stop_requested()) ::poll(nullptr, 0, 1);
    stopped = true;
    return done;
  });
  tasks.on_json("count", [&](Attempt&) -> Outcome {
    ::poll(nullptr, 0, 1);
    ++ran;
    return done;
  });
  auto id = tasks.enqueue_all({NewTask{"long", "{}"}}).at(0);
  constexpr int many = 20'000;
  enqueue(engine, many);
  Worker worker{tasks, {.queues = {}, .concurrency = 4}};
  std::jthread working{[&] { worker.run(); }};
  // From then on it knows how long tasks take, has thousands of them, and gathers all the time.
  ASSERT_TRUE(eventually([&] { return began && ran > 1'000; }, seconds{60}));
  Inspector{open(server.address())}.cancel({.ids = {id}});
  EXPECT_TRUE(eventually([&] { return stopped || ran == many; }, seconds{60}));
  EXPECT_LT(ran, many) << "it heard of it when there was nothing else to do";
  worker.hurry();
}

TEST_F(RedisScenario, LookingForAStoreMakesNone) {
  RedisServer server;
  EXPECT_FALSE(holds_store(server.address()));
  EXPECT_EQ(server.call({"DBSIZE"}).number(), 0);
  auto engine = open(server.address());
  EXPECT_FALSE(holds_store(server.address()));
  enqueue(engine, 1);
  EXPECT_TRUE(holds_store(server.address()));
}

TEST_F(RedisScenario, WorkerGoesOnWhenTheServerForgetsEverything) {
  RedisServer server;
  auto engine = open(server.address());
  Settings settings;
  settings.heartbeat.interval = Millis{200};
  CountingWorker worker{server.address(), settings};
  enqueue(engine, 5);
  ASSERT_TRUE(completes(engine, 5));
  server.restart();
  ASSERT_TRUE(completes(engine, 0));
  enqueue(engine, 5);
  EXPECT_TRUE(completes(engine, 5));
  server.call({"FLUSHALL"});
  enqueue(engine, 3);
  EXPECT_TRUE(completes(engine, 3));
}

TEST_F(RedisScenario, KilledConnectionsAndForgottenScriptsAreNoTrouble) {
  RedisServer server;
  auto engine = open(server.address());
  CountingWorker worker{server.address()};
  for (int round = 1; round <= 5; ++round) {
    enqueue(engine, 4);
    ASSERT_TRUE(completes(engine, 4 * round));
    server.call({"CLIENT", "KILL", "TYPE", "normal"});
    server.call({"CLIENT", "KILL", "TYPE", "pubsub"});
    server.call({"SCRIPT", "FLUSH"});
  }
  // Its connection was closed under it, and it lives: nobody may have buried it.
  EXPECT_THAT(Inspector{engine}.reports(10), IsEmpty());
  EXPECT_EQ(worker.ran(), 20);
}

TEST_F(RedisScenario, SettlementWhoseReplyWasLostIsRecognised) {
  RedisServer server{{.append_only = true}};
  auto engine = open(server.address());
  enqueue(engine, 1);
  auto& tasks = engine.parts().tasks();
  auto worker = engine.parts().workers().enlist({{}, {"count"}, 1});
  auto claimed =
      tasks.exchange({.claim = ClaimRequest{.worker = worker->id(), .kinds = {"count"}}}).claimed;
  ASSERT_EQ(claimed.size(), 1u);
  Exchange settle{.settle = {{.lease = claimed[0].lease, .attempt = 1}}};
  EXPECT_EQ(tasks.exchange(settle).settled.at(0), Settled::accepted);
  server.restart();
  EXPECT_EQ(tasks.exchange(settle).settled.at(0), Settled::repeated);
}

TEST_F(RedisScenario, ClaimWhoseAnswerWasLostIsFoundAgain) {
  RedisServer server;
  auto engine = open(server.address());
  auto id = enqueue(engine, 1).at(0);
  auto& tasks = engine.parts().tasks();
  auto worker = engine.parts().workers().enlist({{}, {"count"}, 1});
  Exchange claim{.claim = ClaimRequest{.worker = worker->id(), .kinds = {"count"}}};
  server.process().stop();
  EXPECT_THROW(tasks.exchange(claim), StoreError);
  // Now it carries out what it was asked for, and nobody listens any more.
  server.process().signal(SIGCONT);
  auto claimed = tasks.exchange(claim).claimed;
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(claimed[0].lease.id, id);
  EXPECT_EQ(claimed[0].attempt, 1) << "it was claimed once";
  Settlement settle{.lease = claimed[0].lease, .attempt = 1};
  EXPECT_EQ(tasks.exchange({.settle = {settle}}).settled.at(0), Settled::accepted);
}

TEST_F(RedisScenario, FullMemoryRefusesNewWorkAndSettlesWhatRuns) {
  RedisServer server;
  auto engine = open(server.address());
  enqueue(engine, 2);
  auto& tasks = engine.parts().tasks();
  auto worker = engine.parts().workers().enlist({{}, {"count"}, 1});
  ClaimRequest claim{.worker = worker->id(), .kinds = {"count"}};
  auto claimed = tasks.exchange({.claim = claim}).claimed;
  ASSERT_EQ(claimed.size(), 1u);
  server.call({"CONFIG", "SET", "maxmemory", "1mb"});
  auto expect_refused = [&] {
    try {
      enqueue(engine, 1);
      FAIL() << "there was no room";
    } catch (const StoreFull& full) {
      EXPECT_THAT(full.what(), HasSubstr("maxmemory"));
    }
  };
  expect_refused();
  Exchange exchange{.settle = {{.lease = claimed[0].lease, .attempt = 1}}, .claim = claim};
  auto answer = tasks.exchange(exchange);
  expect_refused();
  EXPECT_EQ(Inspector{engine}.count({.states = {TaskState::completed}}), 1) << "nothing is removed";
  EXPECT_EQ(answer.settled.at(0), Settled::accepted);
  EXPECT_EQ(answer.claimed.size(), 1u) << "what is there already can be worked off";
  EXPECT_EQ(tasks.renew(std::span{&answer.claimed[0].lease, 1}, seconds{90}).at(0), Renewal::kept);
  EXPECT_TRUE(engine.parts().workers().beat(worker->id(), {}));
}

TEST_F(RedisScenario, DurabilityIsWhatTheServerSays) {
  RedisServer always{{.append_only = true}}, nothing;
  EXPECT_EQ(Inspector{open(always.address())}.durability(), "power-safe");
  EXPECT_THAT(Inspector{open(always.address())}.durability_warning(), IsEmpty());
  always.call({"CONFIG", "SET", "appendfsync", "everysec"});
  EXPECT_EQ(Inspector{open(always.address())}.durability(), "crash-safe");
  EXPECT_THAT(Inspector{open(always.address())}.durability_warning(), HasSubstr("last second"));
  EXPECT_EQ(Inspector{open(nothing.address())}.durability(), "volatile");
  EXPECT_THAT(Inspector{open(nothing.address())}.durability_warning(), HasSubstr("appendonly"));
  EXPECT_THROW(open(nothing.address() + "?durability=crash-safe"), StoreUnusable);
  EXPECT_THROW(open(always.address() + "?durability=power-safe"), StoreUnusable);
  EXPECT_NO_THROW(open(always.address() + "?durability=crash-safe"));
}

TEST_F(RedisScenario, ServerThatRemovesKeysByItselfIsNotUsed) {
  RedisServer server{{.more = {"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"}}};
  EXPECT_THROW(open(server.address()), StoreUnusable);
}

TEST_F(RedisScenario, PrunedTasksLeaveNothingBehind) {
  RedisServer server;
  auto engine = open(server.address());
  {
    CountingWorker worker{server.address()};
    enqueue(engine, 5);
    ASSERT_TRUE(completes(engine, 5));
  }
  EXPECT_EQ(server.call({"LLEN", "{holdfast}:completed"}).number() > 5, true);
  EXPECT_EQ(engine.parts().admin().prune({.max_finished = 2}), 3);
  EXPECT_EQ(engine.parts().admin().prune({.max_finished = 0}), 2);
  for (const char* key : {"completed", "tasks", "all", "counts", "running", "holders"})
    EXPECT_EQ(server.call({"EXISTS", std::string{"{holdfast}:"} + key}).number(), 0) << key;
  for (const char* keys : {"p:*", "t:*", "claim:*", "held:*", "leases:*"})
    EXPECT_EQ(server.call({"KEYS", std::string{"{holdfast}:"} + keys}).size(), 0u) << keys;
}

TEST_F(RedisScenario, TlsIsSpokenWithServersThatAreTrustedOnly) {
  RedisServer server{{.tls = true}};
  auto engine = open(server.address() + "?tls_ca=" + server.certificate());
  CountingWorker worker{server.address() + "?tls_ca=" + server.certificate()};
  enqueue(engine, 5);
  EXPECT_TRUE(completes(engine, 5));
  try {
    open(server.address());
    FAIL() << "a certificate of nobody we know was trusted";
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), HasSubstr("certificate"));
  }
  EXPECT_THROW(open(server.address() + "?tls_name=example.org&tls_ca=" + server.certificate()),
               StoreError);
}

TEST_F(RedisScenario, SignalsDoNotBreakConnectionsWithTls) {
  RedisServer server{{.tls = true}};
  redis::Server connection{
      redis::Address::parse(server.address() + "?tls_ca=" + server.certificate())};
  struct sigaction mere {
  }, before{};
  mere.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGUSR1, &mere, &before), 0);
  std::atomic<bool> answered{false};
  std::atomic<int> sent{0};
  std::thread sender{[&, us = ::pthread_self()] {
    eventually([&] { return ::pthread_kill(us, SIGUSR1) != 0 || ++sent < 0 || answered; });
  }};
  EXPECT_TRUE(connection.call({"BLPOP", "{holdfast}:nothing", "0.3"}).is_nil());
  answered = true;
  sender.join();
  EXPECT_GT(sent, 1);
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(RedisScenario, WhoOnlyLooksLeavesNothingBehind) {
  RedisServer server;
  auto engine = open(server.address() + "?prefix=mistyped");
  Inspector inspector{engine};
  EXPECT_EQ(inspector.count({}), 0);
  EXPECT_THAT(inspector.queues(), IsEmpty());
  EXPECT_THAT(inspector.workers(), IsEmpty());
  EXPECT_EQ(server.call({"DBSIZE"}).number(), 0);
  enqueue(engine, 1);
  EXPECT_EQ(server.call({"EXISTS", "{mistyped}:meta"}).number(), 1) << "then it is made";
}

TEST_F(RedisScenario, TaskThatSomebodyTookOffItsListIsFoundByTheCheck) {
  RedisServer server;
  auto engine = open(server.address());
  auto ids = enqueue(engine, 5);
  EXPECT_TRUE(Inspector{engine}.check_integrity(true).passed);
  const std::string list =
      "{holdfast}:fresh:default\x1f"
      "count\x1f";
  ASSERT_EQ(server.call({"LTRIM", list, "0", "-3"}).text(), "OK");
  auto checked = Inspector{engine}.check_integrity(true);
  ASSERT_EQ(checked.damage.size(), 1u);
  EXPECT_EQ(checked.damage[0].task, ids.back());
  EXPECT_THAT(checked.damage[0].what, HasSubstr("nobody would run it"));
}

TEST_F(RedisScenario, ListsFetchTheBeginningOfLongTextsOnly) {
  RedisServer server;
  auto engine = open(server.address());
  const std::string many(900'000, 'x');
  const auto long_text = '"' + many + '"';
  Tasks tasks{engine};
  for (int i = 0; i < 5; ++i) tasks.enqueue_all({NewTask{"long", long_text, {.tags = {"t"}}}});
  tasks.on_json("long", [&](Attempt&) { return done_with(many); });
  Worker{tasks, {.until_empty = true}}.run();
  auto sent = [&] {
    const auto stats = server.call({"INFO", "stats"}).string();
    const std::string name = "total_net_output_bytes:";
    return std::stoll(stats.substr(stats.find(name) + name.size()));
  };
  const auto before = sent();
  const auto found = Inspector{engine}.tasks({.tag = "t"}, {.longest_text = 2'000});
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[0].payload, long_text.substr(0, 2'000));
  EXPECT_EQ(found[0].result, long_text.substr(0, 2'000));
  EXPECT_EQ(found[0].result_bytes, long_text.size());
  EXPECT_LT(sent() - before, 200'000);
}

TEST_F(RedisScenario, StoreOfAnotherVersionIsLeftAlone) {
  RedisServer server;
  enqueue(open(server.address()), 1);
  auto refusal = [&](const char* format) -> std::string {
    server.call({"HSET", "{holdfast}:meta", "format", format});
    try {
      open(server.address());
    } catch (const StoreUnusable& error) {
      return error.what();
    }
    return "opened";
  };
  EXPECT_THAT(refusal("1"), HasSubstr("older version (1"));
  EXPECT_THAT(refusal("1000"), HasSubstr("newer version (1000"));
}

TEST_F(RedisScenario, WhoNeedsABrokerIsToldToNameOne) {
  RedisServer server;
  try {
    open_broker(open(server.address()));
    FAIL() << "it has none";
  } catch (const InvalidRequest& refused) {
    EXPECT_THAT(refused.what(), HasSubstr("name a broker (--broker): sqlite:FILE or amqp://"));
  }
}

TEST_F(RedisScenario, NothingListensIsSaidWithTheAddress) {
  try {
    open("redis://127.0.0.1:1");
    FAIL() << "nobody listens there";
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), HasSubstr("127.0.0.1:1"));
  }
  EXPECT_THROW(open("redis://127.0.0.1:port"), ConfigError);
  EXPECT_THROW(open("redis://127.0.0.1?prefx=a"), ConfigError);
}

}  // namespace
}  // namespace holdfast::test
