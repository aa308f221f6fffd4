#include "sidekiq/sidekiq_scenario.hpp"

namespace holdfast::sidekiq {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Requests that others left behind, in the layout of the gem.
class SidekiqRecovery : public SidekiqScenario {
 protected:
  /// In flight in a Ruby process that was heard of so many seconds ago.
  void seed(const std::string& process, const boost::json::object& job, int seconds_ago) {
    auto id = process + "/" + std::string{job.at("args").at(4).as_string()};
    auto now = redis_.call({"TIME"})[0].number();
    redis_.call({"SADD", key("processes"), process});
    redis_.call({"ZADD", key("inflight_index"), std::to_string((now - seconds_ago) * 1'000), id});
    redis_.call({"HSET", key("inflight_jobs"), id, boost::json::serialize(job)});
  }
  void keep_alive(const std::string& process) {
    redis_.call({"SET", key("processes:" + process + ":max_connections"), "256", "EX", "120"});
  }

  HttpServer server_{[](const ServedRequest&) { return answer(200); }};
};

TEST_F(SidekiqRecovery, OrphansOfADeadRubyProcessArePerformedAlthoughAnotherOneLives) {
  seed("ruby:1:aa", job_of({.url = server_.url(), .id = "orphan"}), 400);
  seed("ruby:2:bb", job_of({.url = server_.url(), .id = "late"}), 400);
  keep_alive("ruby:2:bb");
  seed("ruby:3:cc", job_of({.url = server_.url(), .id = "fresh"}), 100);
  redis_.call({"HSET", key("holdfast:lives"), "host:4:dd", "connection 5 of server another-run"});
  auto summary = perform();
  EXPECT_EQ(summary.recovered, 1);
  EXPECT_EQ(summary.callbacks, 1);
  EXPECT_EQ(queue().at(0).at("args").at(0).at("request_id"), "orphan");
  EXPECT_THAT(texts({"ZRANGE", key("inflight_index"), "0", "-1"}),
              testing::UnorderedElementsAre("ruby:2:bb/late", "ruby:3:cc/fresh"));
  EXPECT_THAT(texts({"SMEMBERS", key("processes")}), ElementsAre("ruby:2:bb"))
      << "the dead are taken off the list, which the gem does not do";
  EXPECT_THAT(infos_, testing::Contains(HasSubstr("recovered request ruby:1:aa/orphan")));
  EXPECT_GT(number({"GET", key("gc_last_run")}), 1'700'000'000'000);
  EXPECT_EQ(number({"EXISTS", key("gc_lock")}), 0);
  EXPECT_EQ(number({"HLEN", key("holdfast:lives")}), 0) << "nobody can prove anything by it";
}

TEST_F(SidekiqRecovery, WhoHasTheLockIsLeftToIt) {
  seed("ruby:1:aa", job_of({.url = server_.url()}), 400);
  redis_.call({"SET", key("gc_lock"), "ruby:2:bb", "EX", "120"});
  EXPECT_EQ(perform().recovered, 0);
  EXPECT_EQ(redis_.call({"GET", key("gc_lock")}).text(), "ruby:2:bb");
}

TEST_F(SidekiqRecovery, ALookThatBreaksOffGivesTheLockBack) {
  redis_.call({"SET", key("inflight_index"), "not a sorted set"});
  EXPECT_EQ(perform().recovered, 0);
  EXPECT_EQ(number({"EXISTS", key("gc_lock")}), 0);
}

TEST_F(SidekiqRecovery, OneThatCannotBePutBackDoesNotStopTheOthers) {
  redis_.call({"SET", "queue:broken", "not a list"});
  seed("ruby:1:aa", job_of({.url = server_.url(), .id = "stuck", .queue = "broken"}), 500);
  seed("ruby:1:aa", job_of({.url = server_.url(), .id = "free"}), 400);
  EXPECT_EQ(perform().recovered, 1);
  EXPECT_THAT(errors_, testing::Contains(HasSubstr("ruby:1:aa/stuck cannot be recovered")));
  EXPECT_THAT(registered(), ElementsAre("ruby:1:aa/stuck"));
}

TEST_F(SidekiqRecovery, ManyThatCannotBePutBackDoNotStopTheOthersEither) {
  redis_.call({"SET", "queue:broken", "not a list"});
  constexpr int many = 1'100;
  for (int i = 0; i < many; ++i)
    seed("ruby:1:aa", job_of({.id = std::to_string(i), .queue = "broken"}), 500);
  seed("ruby:1:aa", job_of({.url = server_.url(), .id = "free"}), 400);
  EXPECT_EQ(perform().recovered, 1);
  EXPECT_THAT(registered(), SizeIs(many));
  EXPECT_THAT(errors_, SizeIs(testing::Ge(many)));
}

TEST_F(SidekiqRecovery, RubyThatHasJustLookedKeepsNobodyFromIt) {
  seed("ruby:1:aa", job_of({.url = server_.url(), .id = "orphan"}), 400);
  auto now = redis_.call({"TIME"})[0].number() * 1'000;
  redis_.call({"SET", key("gc_last_run"), std::to_string(now + 60'000)});
  EXPECT_EQ(perform().recovered, 1);
}

TEST_F(SidekiqRecovery, OneThatHasJustLookedDoesSoForAll) {
  seed("ruby:1:aa", job_of({.url = server_.url(), .id = "orphan"}), 400);
  auto now = redis_.call({"TIME"})[0].number() * 1'000;
  redis_.call({"SET", key("holdfast:last_look"), std::to_string(now + 60'000)});
  EXPECT_EQ(perform().recovered, 0);
}

TEST_F(SidekiqRecovery, ARequestThatKeepsKillingItsProcessBecomesADeadJob) {
  auto job = job_of({.url = server_.url()});
  job["holdfast_recoveries"] = 3;
  seed("ruby:1:aa", job, 400);
  EXPECT_EQ(perform().recovered, 0);
  EXPECT_EQ(server_.served(), 0);
  auto dead = set("dead");
  ASSERT_THAT(dead, SizeIs(1));
  EXPECT_EQ(dead[0].at("jid"), job.at("jid"));
  EXPECT_THAT(std::string{dead[0].at("error_message").as_string()}, HasSubstr("died 4 times"));
  EXPECT_THAT(queue(), IsEmpty());
}

TEST_F(SidekiqRecovery, AnEntryWithoutAJobAndOneThatIsNoJobAreToldAndRemoved) {
  seed("ruby:1:aa", job_of({.id = "empty"}), 400);
  redis_.call({"HDEL", key("inflight_jobs"), "ruby:1:aa/empty"});
  seed("ruby:1:aa", job_of({.id = "broken"}), 400);
  redis_.call({"HSET", key("inflight_jobs"), "ruby:1:aa/broken", "{nonsense"});
  perform();
  EXPECT_THAT(errors_, SizeIs(2));
  EXPECT_THAT(texts({"ZRANGE", "dead", "0", "-1"}), ElementsAre("{nonsense"));
  expect_nothing_in_flight();
}

TEST_F(SidekiqRecovery, WhatMayHaveBeenSentIsNotSentAgainWhereThatWasAskedFor) {
  redis::Server server{redis::Address::parse(redis_.sidekiq_address())};
  push({.url = server_.url(), .method = "post"});
  Registry gone{server,
                dialect_named("sidekiq_async_http"),
                {.process = "host:1:a",
                 .queues = {"default"},
                 .capacity = 1,
                 .heartbeat_interval = Millis{60'000},
                 .orphan_threshold = Millis{300'000}}};
  auto hold = gone.take(1).at(0).hold;
  ASSERT_TRUE(gone.begin_sending(std::array{hold}).at(0));
  gone.beat(std::array{hold});
  // Its connection is gone from this server, which proves its death.
  auto run = redis_.call({"INFO", "server"}).string();
  run = run.substr(run.find("run_id:") + 7, 12);
  redis_.call({"HSET", key("holdfast:lives"), "host:1:a", "connection 999999 of server " + run});
  perform();
  EXPECT_EQ(server_.served(), 0);
  ASSERT_THAT(set("dead"), SizeIs(1));
  EXPECT_THAT(std::string{set("dead")[0].at("error_message").as_string()},
              HasSubstr("may have been sent"));
  EXPECT_EQ(number({"HLEN", key("holdfast:lives")}), 0);
  expect_nothing_in_flight();
}

}  // namespace
}  // namespace holdfast::sidekiq
