#include "sidekiq/sidekiq_scenario.hpp"

namespace holdfast::sidekiq {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

/// The gem's registry, from which a Ruby process takes entries, and which may be lost as a whole.
class SidekiqLostRegistry : public SidekiqScenario {
 protected:
  Registry registry(const std::string& process) {
    return {server_,
            dialect_named("sidekiq_async_http"),
            {.process = process,
             .queues = {"default"},
             .capacity = 10,
             .heartbeat_interval = Millis{60'000},
             .orphan_threshold = Millis{300'000}}};
  }
  Hold take(Registry& from, const std::string& id) {
    push({.id = id});
    return from.take(1).at(0).hold;
  }
  static Settling callback_for(const Hold& hold) {
    return {.hold = hold, .effects = {{.what = "push", .where = "default", .text = "{}"}}};
  }
  bool deliver(Registry& by, const Hold& hold) {
    return by.settle(std::array{callback_for(hold)})[0].done;
  }

  /// The gem's collection of orphans, which knows nothing of ours: both in one step, and the job
  /// back on its queue.
  void put_back_as_ruby_does(const Hold& hold) {
    auto text = redis_.call({"HGET", key("inflight_jobs"), hold.id}).string();
    redis_.call({"EVAL",
                 "redis.call('ZREM', KEYS[1], ARGV[1]) redis.call('HDEL', KEYS[2], ARGV[1])", "2",
                 key("inflight_index"), key("inflight_jobs"), hold.id});
    redis_.call({"LPUSH", "queue:default", text});
  }
  void lose(const std::vector<std::string>& keys) {
    for (const auto& name : keys) redis_.call({"DEL", key(name)});
  }
  /// And the registry was there before.
  void heard_of_long_ago(const Hold& hold) {
    redis_.call({"ZADD", key("holdfast:beats"), "1000", hold.id});
    redis_.call({"HSET", key("inflight_jobs"), "holdfast", "500"});
  }
  Recovery recovery() {
    return {server_,
            dialect_named("sidekiq_async_http"),
            {.process = "host:2:b",
             .heartbeat_interval = Millis{1},
             .orphan_threshold = Millis{300'000},
             .ttl_seconds = 3'600},
            [this](Severity, const std::string& sentence) { said_.push_back(sentence); }};
  }
  std::vector<std::string> index() { return texts({"ZRANGE", key("inflight_index"), "0", "-1"}); }

  const std::vector<std::string> all_of_it{"inflight_index", "inflight_jobs"};
  redis::Server server_{redis::Address::parse(redis_.sidekiq_address())};
  std::vector<std::string> said_;
};

TEST_F(SidekiqLostRegistry, WhatARubyProcessPutBackIsNotDeliveredAsWell) {
  auto one = registry("host:1:a");
  auto first = take(one, "first"), second = take(one, "second");
  put_back_as_ruby_does(first);
  EXPECT_THAT(one.beat(std::array{first, second}), ElementsAre(first.token));
  EXPECT_FALSE(deliver(one, first));
  EXPECT_THAT(queue(), SizeIs(1)) << "where Ruby has put it";
  EXPECT_THAT(texts({"HKEYS", key("holdfast:leases")}), ElementsAre(second.id));
}

TEST_F(SidekiqLostRegistry, NorIsTheLastOneThatItPutBack) {
  auto one = registry("host:1:a");
  auto noticed = take(one, "noticed by a heartbeat");
  put_back_as_ruby_does(noticed);
  EXPECT_EQ(number({"EXISTS", key("inflight_index")}), 0) << "as if it were lost";
  EXPECT_THAT(one.beat(std::array{noticed}), ElementsAre(noticed.token));
  EXPECT_THAT(index(), IsEmpty());
  redis_.call({"DEL", "queue:default"});
  auto settled = take(one, "noticed by its end");
  put_back_as_ruby_does(settled);
  EXPECT_FALSE(deliver(one, settled));
  EXPECT_EQ(queue().at(0).at("args").at(4), "noticed by its end");
  redis_.call({"DEL", "queue:default"});
  auto sent = take(one, "noticed before it is sent");
  put_back_as_ruby_does(sent);
  EXPECT_THAT(one.begin_sending(std::array{sent}), ElementsAre(false));
  redis_.call({"DEL", "queue:default"});
  expect_nothing_in_flight();
}

TEST_F(SidekiqLostRegistry, NorIsTheLastOneOfADeadProcessPutBackTwice) {
  auto gone = registry("host:1:a");
  auto hold = take(gone, "last");
  put_back_as_ruby_does(hold);
  heard_of_long_ago(hold);
  EXPECT_EQ(recovery().run_once().again, 0);
  EXPECT_THAT(said_, ElementsAre(testing::HasSubstr("put back on its queue by another process")));
  EXPECT_THAT(queue(), SizeIs(1));
  redis_.call({"DEL", "queue:default"});
  expect_nothing_in_flight();
}

TEST_F(SidekiqLostRegistry, IsFilledByThoseWhoSayThatTheyHoldSomething) {
  auto one = registry("host:1:a"), other = registry("host:2:b");
  auto first = take(one, "first"), second = take(one, "second"), third = take(other, "third");
  lose(all_of_it);
  EXPECT_THAT(one.beat(std::array{first, second}), IsEmpty());
  EXPECT_THAT(index(), UnorderedElementsAre(first.id, second.id))
      << "the third was not vouched for";
  EXPECT_THAT(other.beat(std::array{third}), IsEmpty());
  EXPECT_THAT(index(), UnorderedElementsAre(first.id, second.id, third.id));
  EXPECT_THAT(registered(), UnorderedElementsAre(first.id, second.id, third.id));
  EXPECT_GT(number({"TTL", key("inflight_index")}), 3'590);
  EXPECT_GT(number({"TTL", key("inflight_jobs")}), 3'590);
  put_back_as_ruby_does(third);
  EXPECT_THAT(other.beat(std::array{third}), ElementsAre(third.token))
      << "what was registered again can be taken out like the rest";
  EXPECT_TRUE(deliver(one, first));
  EXPECT_TRUE(deliver(one, second));
}

TEST_F(SidekiqLostRegistry, MakesRequestsDeadThatARubyProcessMayHavePerformed) {
  auto gone = registry("host:1:a");
  auto lost = take(gone, "put back by Ruby, which cannot be seen any more");
  heard_of_long_ago(lost);
  lose(all_of_it);
  auto seen = take(gone, "taken afterwards");
  const auto recovered = recovery().run_once();
  EXPECT_EQ(recovered.again, 0);
  EXPECT_EQ(recovered.dead, 1);
  EXPECT_THAT(queue(), IsEmpty());
  ASSERT_THAT(set("dead"), SizeIs(1));
  EXPECT_EQ(set("dead")[0].at("error_class"), "Holdfast::NotSentAgain");
  EXPECT_THAT(std::string{set("dead")[0].at("error_message").as_string()},
              testing::HasSubstr("may have been sent by a Ruby process: the gem's registry"));
  EXPECT_THAT(said_, testing::Contains(testing::HasSubstr("is not sent again")));
  EXPECT_FALSE(deliver(gone, lost)) << "nor is it delivered by a holder that slept";
  EXPECT_TRUE(deliver(gone, seen));
  expect_nothing_in_flight();
}

TEST_F(SidekiqLostRegistry, NamesOneWithoutAJobAndForgetsIt) {
  auto gone = registry("host:1:a");
  auto lost = take(gone, "x");
  redis_.call({"HDEL", key("holdfast:jobs"), lost.id});
  heard_of_long_ago(lost);
  lose(all_of_it);
  EXPECT_EQ(recovery().run_once().again, 0);
  EXPECT_THAT(said_, ElementsAre(testing::HasSubstr("its job is not there any more")));
  expect_nothing_in_flight();
}

TEST_F(SidekiqLostRegistry, DoesNotLoseARequestWhoseOwnerHearsOfItAfterOthers) {
  auto one = registry("host:1:a"), other = registry("host:2:b");
  auto mine = take(one, "mine");
  lose(all_of_it);
  auto theirs = take(other, "theirs");
  EXPECT_TRUE(deliver(one, mine));
  EXPECT_TRUE(deliver(other, theirs));
}

TEST_F(SidekiqLostRegistry, DoesNotLoseARequestWhoseOwnerWasSilentUntilItExpired) {
  auto one = registry("host:1:a");
  auto hold = take(one, "of a machine that slept");
  heard_of_long_ago(hold);
  lose(all_of_it);
  EXPECT_TRUE(deliver(one, hold));
  expect_nothing_in_flight();
}

TEST_F(SidekiqLostRegistry, OfWhichOneHalfIsLostIsMadeWhole) {
  auto one = registry("host:1:a");
  auto hold = take(one, "x");
  for (const auto& half : all_of_it) {
    lose({half});
    EXPECT_THAT(one.beat(std::array{hold}), IsEmpty()) << half;
    EXPECT_THAT(index(), ElementsAre(hold.id)) << half;
    EXPECT_THAT(registered(), ElementsAre(hold.id)) << half;
    EXPECT_GT(number({"TTL", key(half)}), 3'590);
  }
}

TEST_F(SidekiqLostRegistry, IsFilledAgainWithMany) {
  constexpr int many = 2'500;
  for (int i = 0; i < many; ++i) push({.id = std::to_string(i)});
  auto one = registry("host:1:a");
  std::vector<Hold> holds;
  while (std::ssize(holds) < many)
    for (auto& job : one.take(500)) holds.push_back(std::move(job.hold));
  lose(all_of_it);
  EXPECT_THAT(one.beat(holds), IsEmpty());
  EXPECT_THAT(index(), SizeIs(many));
  EXPECT_THAT(registered(), SizeIs(many));
}

/// Another version of the program at the same Redis.
using SidekiqVersions = SidekiqLostRegistry;

TEST_F(SidekiqVersions, OneThatKeepsRequestsOtherwiseIsNotMisread) {
  auto one = registry("host:1:a");
  auto hold = take(one, "held");
  push({.id = "waits"});
  redis_.call({"SET", key("holdfast:format"), "2"});
  auto refusal = [](const auto& step) -> std::string {
    try {
      step();
    } catch (const StoreError& error) {
      return error.what();
    }
    return "";
  };
  const auto told = testing::HasSubstr("format 2");
  EXPECT_THAT(refusal([&] { one.take(1); }), told);
  EXPECT_THAT(refusal([&] { deliver(one, hold); }), told);
  EXPECT_THAT(refusal([&] { one.beat(std::array{hold}); }), told);
  EXPECT_THAT(refusal([&] { http::sidekiq_status(address()); }), told);
  EXPECT_THAT(refusal([&] { perform(); }), told);
  EXPECT_THROW(perform(), StoreUnusable);
  EXPECT_THAT(queue(), SizeIs(1)) << "nothing was touched";
  redis_.call({"SET", key("holdfast:format"), "1"});
  EXPECT_TRUE(deliver(one, hold));
}

TEST_F(SidekiqVersions, APhaseThatIsNotKnownMayMeanThatItWasSent) {
  auto gone = registry("host:1:a");
  auto hold = take(gone, "x");
  redis_.call({"HSET", key("holdfast:leases"), hold.id, hold.token + " more words halfway"});
  EXPECT_THAT(gone.beat(std::array{hold}), IsEmpty()) << "more words than are known do no harm";
  heard_of_long_ago(hold);
  lose(all_of_it);
  redis_.call({"DEL", key("processes:host:1:a:max_connections")});
  EXPECT_EQ(perform().recovered, 0);
  ASSERT_THAT(set("dead"), SizeIs(1));
  EXPECT_THAT(std::string{set("dead")[0].at("error_message").as_string()},
              testing::HasSubstr("may have been sent"));
}

TEST_F(SidekiqVersions, OneThatDoesNotMarkTheRegistryMayWorkBesideThis) {
  auto one = registry("host:1:a");
  auto hold = take(one, "taken by a version that wrote no mark");
  redis_.call({"HDEL", key("inflight_jobs"), "holdfast"});
  EXPECT_THAT(one.beat(std::array{hold}), IsEmpty());
  EXPECT_THAT(index(), ElementsAre(hold.id));
  put_back_as_ruby_does(hold);
  EXPECT_FALSE(deliver(one, hold));
}

}  // namespace
}  // namespace holdfast::sidekiq
