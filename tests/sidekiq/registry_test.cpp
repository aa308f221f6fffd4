#include "sidekiq/sidekiq_scenario.hpp"

namespace holdfast::sidekiq {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Steps of a process, one at a time.
class SidekiqRegistry : public SidekiqScenario {
 protected:
  Registry registry(const std::string& process, Millis threshold = Millis{300'000}) {
    return {server_,
            dialect_named("sidekiq_async_http"),
            {.process = process,
             .queues = {"default"},
             .capacity = 10,
             .heartbeat_interval = Millis{60'000},
             .orphan_threshold = threshold}};
  }
  static Settling callback_for(const Hold& hold) {
    return {.hold = hold, .effects = {{.what = "push", .where = "default", .text = "{}"}}};
  }

  redis::Server server_{redis::Address::parse(redis_.sidekiq_address())};
};

TEST_F(SidekiqRegistry, TakingMovesAJobIntoTheGemsRegistryAndOurs) {
  push({});
  auto text = texts({"LRANGE", "queue:default", "0", "-1"}).at(0);
  auto taken = registry("host:1:a").take(10);
  ASSERT_THAT(taken, SizeIs(1));
  auto id = "host:1:a/" + Pushed{}.id;
  EXPECT_EQ(taken[0].hold.id, id);
  EXPECT_EQ(taken[0].text, text);
  EXPECT_EQ(number({"LLEN", "queue:default"}), 0);
  EXPECT_EQ(redis_.call({"HGET", key("inflight_jobs"), id}).text(), text);
  EXPECT_GT(redis_.call({"ZSCORE", key("inflight_index"), id}).real(), 1.7e12) << "milliseconds";
  EXPECT_GT(number({"TTL", key("inflight_index")}), 3'590);
  EXPECT_GT(number({"TTL", key("inflight_jobs")}), 3'590);
  EXPECT_EQ(redis_.call({"HGET", key("holdfast:leases"), id}).text(),
            taken[0].hold.token + " taken");
  EXPECT_EQ(number({"TTL", key("holdfast:leases")}), -1) << "the truth does not expire";
  EXPECT_EQ(number({"TTL", key("holdfast:jobs")}), -1);
  EXPECT_EQ(number({"TTL", key("holdfast:beats")}), -1);
}

TEST_F(SidekiqRegistry, RequestsWithTheSameIdHaveAnEntryEach) {
  for (int i = 0; i < 3; ++i) push({});
  auto one = registry("host:1:a");
  auto taken = one.take(2);
  for (auto& job : one.take(2)) taken.push_back(std::move(job));
  ASSERT_THAT(taken, SizeIs(3));
  EXPECT_THAT(registered(), SizeIs(3));
  for (const auto& job : taken) {
    EXPECT_THAT(job.hold.id, testing::StartsWith("host:1:a/" + Pushed{}.id));
    EXPECT_TRUE(one.settle(std::array{callback_for(job.hold)})[0].done);
  }
  expect_nothing_in_flight();
}

TEST_F(SidekiqRegistry, JobsOfOtherClassesStayInTheirOrder) {
  std::vector<std::string> others;
  for (int i = 0; i < 450; ++i) {
    Pushed one;
    one.id = std::to_string(i);
    // The name of the class in an argument makes no job of that class.
    if (i % 2 == 0) one.type = "MailJob", one.url = request_class;
    push(one);
    if (i % 2 == 0) others.push_back(boost::json::serialize(job_of(one)));
  }
  auto one = registry("host:1:a");
  std::vector<TakenJob> taken;
  do {
    for (auto& job : one.take(1'000)) taken.push_back(std::move(job));
  } while (!one.saw_everything());
  EXPECT_THAT(taken, SizeIs(225));
  EXPECT_EQ(taken.front().hold.id, "host:1:a/1") << "the oldest first";
  std::ranges::reverse(others);
  EXPECT_EQ(texts({"LRANGE", "queue:default", "0", "-1"}), others);
}

TEST_F(SidekiqRegistry, NoRequestOvertakesAnOlderOneToItsHost) {
  auto push_to = [&](const std::string& host, const std::string& id) {
    push({.url = fmt::format("http://{}/", host), .id = id});
  };
  auto one = registry("host:1:a");
  AtHosts in_hand{16, 1};
  auto take = [&] {
    std::vector<std::string> ids;
    for (const auto& job : one.take(10, in_hand)) {
      in_hand.came(job.host);
      ids.push_back(job.hold.id.substr(job.hold.id.find('/') + 1));
    }
    return ids;
  };
  for (int i = 0; i < 9; ++i) push_to(i % 2 == 0 ? "A.example" : "a.example:80", std::to_string(i));
  EXPECT_THAT(take(), ElementsAre("0", "1", "2", "3", "4")) << "one is sent, and four wait";
  EXPECT_EQ(in_hand.counts(), (std::map<std::string, int>{{"http://a.example", 5}}));
  in_hand.went("http://a.example");
  push_to("a.example", "9");
  push_to("b.example", "another");
  EXPECT_THAT(take(), ElementsAre("another")) << "there is room, but older ones wait for it";
  EXPECT_TRUE(one.left_some());
  in_hand.went("http://a.example");
  in_hand.went("http://a.example");
  EXPECT_THAT(take(), ElementsAre("5", "6", "7"));
  for (int i = 0; i < 5; ++i) in_hand.went("http://a.example");
  std::vector<std::string> last;
  ASSERT_TRUE(test::eventually([&] {
    for (auto& id : take()) last.push_back(std::move(id));
    return !one.left_some();
  }));
  EXPECT_THAT(last, ElementsAre("8", "9"));
  EXPECT_EQ(number({"LLEN", "queue:default"}), 0);
}

/// Jobs that nobody runs, in both sets.
class SidekiqRegistryBacklog : public SidekiqRegistry {
 protected:
  void add(const std::string& set, double due, const Pushed& job) {
    redis_.call({"ZADD", set, fmt::format("{}", due), boost::json::serialize(job_of(job))});
  }
  void add_others(const std::string& set, int count) {
    for (int i = 0; i < count; ++i)
      add(set, 1'000 + i, {.id = std::to_string(i), .type = "MailJob"});
  }
};

TEST_F(SidekiqRegistryBacklog, DoesNotHideARequestThatHasJustBecomeDue) {
  const double later = 4e9;
  for (const auto* set : {"retry", "schedule"}) {
    add_others(set, 1'200);
    add(set, 10'000, {.id = std::string{"due in "} + set});
    add(set, later, {.id = "not due"});
  }
  auto one = registry("host:1:a");
  EXPECT_EQ(one.move_due().count, 2);
  EXPECT_THAT(queue(), SizeIs(2));
  EXPECT_EQ(number({"ZCARD", "retry"}), 1'201);
  EXPECT_EQ(number({"ZCARD", "schedule"}), 1'201);
}

TEST_F(SidekiqRegistryBacklog, IsLookedThroughByAndByAndFromItsEndAgain) {
  add_others("retry", 3'500);
  auto one = registry("host:1:a");
  auto calls_until_moved = [&](double due) {
    add("retry", due, {});
    for (int calls = 1; calls <= 10; ++calls)
      if (one.move_due().count > 0) return calls;
    return 0;
  };
  EXPECT_EQ(calls_until_moved(1), 4) << "a thousand further each time";
  EXPECT_EQ(calls_until_moved(1), 4) << "and from the end again";
  one.move_due();
  EXPECT_EQ(calls_until_moved(2'600), 1) << "in the next part";
  EXPECT_EQ(number({"ZCARD", "retry"}), 3'500) << "the others stay";
  EXPECT_THAT(queue(), SizeIs(3));
}

TEST_F(SidekiqRegistryBacklog, OneWhoseQueueIsNoListDoesNotKeepOthersFromComingBack) {
  redis_.call({"SET", "queue:broken", "not a list"});
  for (const auto* set : {"retry", "schedule"}) {
    add(set, 1'000, {.id = "stuck", .queue = "broken"});
    add(set, 900, {.id = "free"});
  }
  auto one = registry("host:1:a");
  auto moved = one.move_due();
  EXPECT_EQ(moved.count, 2);
  ASSERT_THAT(moved.refusals, SizeIs(1));
  EXPECT_EQ(moved.refusals[0].first, "broken");
  EXPECT_THAT(moved.refusals[0].second, testing::HasSubstr("WRONGTYPE"));
  EXPECT_THAT(queue(), SizeIs(2));
  EXPECT_THAT(set("retry"), SizeIs(1)) << "nothing is lost";
}

TEST_F(SidekiqRegistry, OthersAreTakenWhereOneQueueIsNoList) {
  redis_.call({"SET", "queue:default", "not a list"});
  push({.queue = "other"});
  Registry one{server_,
               dialect_named("sidekiq_async_http"),
               {.process = "host:1:a", .queues = {"default", "other"}, .capacity = 2}};
  EXPECT_THAT(one.take(2), SizeIs(1));
  ASSERT_THAT(one.refusals(), SizeIs(1));
  EXPECT_EQ(one.refusals()[0].first, "default");
  redis_.call({"DEL", "queue:default"});
  one.take(1);
  EXPECT_THAT(one.refusals(), testing::IsEmpty());
}

TEST_F(SidekiqRegistry, AJobThatOnlyMentionsTheClassStaysEvenIfItCannotBeRead) {
  push_text("default", R"({"class":"ErrorReport","args":[")" + std::string{request_class} +
                           R"( said \udc00"],"jid":"abc"})");
  push_text("default",
            R"({"class":")" + std::string{request_class} + R"(","args":["\udc00"],"jid":"def"})");
  auto one = registry("host:1:a");
  EXPECT_THAT(one.take(5), testing::IsEmpty());
  EXPECT_EQ(number({"LLEN", "queue:default"}), 1);
  EXPECT_THAT(texts({"ZRANGE", "dead", "0", "-1"}), ElementsAre(testing::HasSubstr("def")));
}

TEST_F(SidekiqRegistry, SettlingHappensOnceAndOnlyForWhoeverHoldsTheRequest) {
  push({});
  auto one = registry("host:1:a");
  auto hold = one.take(1).at(0).hold;
  Settling wrong = callback_for({hold.id, "1"}), right = callback_for(hold);
  right.totals = {{"requests", 1}, {"duration", 0.25}};
  auto settled = one.settle(std::array{wrong, right, right});
  EXPECT_FALSE(settled[0].done);
  EXPECT_TRUE(settled[1].done);
  EXPECT_FALSE(settled[2].done);
  EXPECT_EQ(number({"LLEN", "queue:default"}), 1);
  EXPECT_EQ(redis_.call({"HGET", key("totals"), "duration"}).text(), "0.25");
  EXPECT_GT(number({"TTL", key("totals")}), 29 * 86'400);
  expect_nothing_in_flight();
}

TEST_F(SidekiqRegistry, SettlingCountsHowLongRequestsTook) {
  for (const auto* id : {"a", "b", "c", "d"}) push({.id = id});
  auto one = registry("host:1:a");
  auto jobs = one.take(4);
  auto settle = [&](std::size_t which, std::optional<double> took) {
    auto settling = callback_for(jobs.at(which).hold);
    settling.totals = {{"requests", 1}, {"duration", took.value_or(0)}};
    settling.took = took;
    EXPECT_TRUE(one.settle(std::array{settling})[0].done);
  };
  settle(0, 0.010);
  settle(1, 2.0);
  auto times = http::sidekiq_status(address()).times;
  EXPECT_EQ(times.measured, 2);
  EXPECT_NEAR(times.p50, 0.010, 0.010 / 8);
  EXPECT_NEAR(times.p99, 2.0, 2.0 / 8);
  EXPECT_GT(number({"TTL", key("holdfast:times")}), 29 * 86'400);
  settle(2, {});
  EXPECT_EQ(http::sidekiq_status(address()).times.measured, 2) << "it was not performed";
  // What the button on the gem's page does.
  redis_.call({"DEL", key("totals")});
  EXPECT_EQ(http::sidekiq_status(address()).times.measured, 0);
  settle(3, 0.5);
  EXPECT_EQ(http::sidekiq_status(address()).times.measured, 1) << "counted from the start again";
}

TEST_F(SidekiqRegistry, OneThatCannotBeDeliveredStaysAndTheOthersAreSettled) {
  push({});
  push({.id = "second"});
  redis_.call({"SET", "queue:broken", "not a list"});
  auto one = registry("host:1:a");
  auto jobs = one.take(2);
  auto broken = callback_for(jobs[0].hold);
  broken.effects[0].where = "broken";
  auto settled = one.settle(std::array{broken, callback_for(jobs[1].hold)});
  EXPECT_FALSE(settled[0].done);
  EXPECT_THAT(settled[0].trouble, testing::HasSubstr("WRONGTYPE"));
  EXPECT_TRUE(settled[1].done);
  EXPECT_THAT(registered(), ElementsAre(jobs[0].hold.id));
}

TEST_F(SidekiqRegistry, AHeartbeatKeepsTheRegistryAndTheProcessAlive) {
  push({});
  auto one = registry("host:1:a");
  auto hold = one.take(1).at(0).hold;
  redis_.call({"EXPIRE", key("inflight_index"), "5"});
  redis_.call({"EXPIRE", key("inflight_jobs"), "5"});
  redis_.call({"ZADD", key("inflight_index"), "1000", hold.id});
  EXPECT_THAT(one.beat(std::array{hold}), IsEmpty());
  EXPECT_GT(redis_.call({"ZSCORE", key("inflight_index"), hold.id}).real(), 1.7e12);
  EXPECT_GT(number({"TTL", key("inflight_index")}), 3'590);
  EXPECT_GT(number({"TTL", key("inflight_jobs")}), 3'590);
  EXPECT_THAT(texts({"SMEMBERS", key("processes")}), ElementsAre("host:1:a"));
  EXPECT_EQ(number({"GET", key("processes:host:1:a:max_connections")}), 10);
  EXPECT_GT(number({"TTL", key("processes:host:1:a:max_connections")}), 110);
}

TEST_F(SidekiqRegistry, WhatWasTakenWithoutAnAnswerGoesBack) {
  push({});
  push({.id = "second"});
  auto one = registry("host:1:a");
  auto jobs = one.take(2);
  EXPECT_THAT(one.put_back_strays(std::array{jobs[1].hold}), ElementsAre(jobs[0].hold.id));
  EXPECT_THAT(texts({"LRANGE", "queue:default", "0", "-1"}), ElementsAre(jobs[0].text));
  EXPECT_TRUE(one.settle(std::array{callback_for(jobs[1].hold)})[0].done);
}

TEST_F(SidekiqRegistry, AProcessThatSleptUntilItWasTakenForDeadDeliversNothing) {
  push({});
  auto sleeper = registry("host:1:a", Millis{0});
  auto hold = sleeper.take(1).at(0).hold;
  Recovery recovery{server_,
                    dialect_named("sidekiq_async_http"),
                    {.process = "host:2:b",
                     .heartbeat_interval = Millis{1},
                     .orphan_threshold = Millis{-1'000},
                     .ttl_seconds = 3'600},
                    [](Severity, const std::string&) {}};
  EXPECT_EQ(recovery.run_once().again, 1);
  EXPECT_EQ(queue().at(0).at("jid"), job_of({}).at("jid"));
  EXPECT_FALSE(sleeper.settle(std::array{callback_for(hold)})[0].done);
  EXPECT_THAT(sleeper.beat(std::array{hold}), ElementsAre(hold.token));
  auto next = registry("host:2:b").take(1).at(0).hold;
  EXPECT_GT(std::stoll(next.token), std::stoll(hold.token));
  EXPECT_EQ(number({"LLEN", "queue:default"}), 0);
}

}  // namespace
}  // namespace holdfast::sidekiq
