#include <gmock/gmock.h>

#include <optional>

#include "engines/redis/dependents.hpp"
#include "scenario/redis_scenario.hpp"
#include "support/redis_gate.hpp"

/// What is done while another process is between two of its scripts, or after it died there.
namespace holdfast::test {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class RedisInterleavings : public RedisScenario {
 protected:
  using Act = std::function<void()>;

  /// The first step by way of the gate; the second before each of its scripts in turn.
  void between_all_scripts(const Act& prepare, const Act& first, const Act& second,
                           const Act& check) {
    int at = 0, scripts = 0;
    do {
      ++at;
      prepare();
      gate_.before_each_script([&](int number) {
        scripts = number;
        if (number == at) second();
        return true;
      });
      first();
      gate_.before_each_script({});
      SCOPED_TRACE("before script " + std::to_string(at));
      if (at <= scripts) check();
    } while (!HasFailure() && at < scripts);
    EXPECT_GT(scripts, 1) << "otherwise they are not at the same time";
  }
  /// The step fails: the connection is lost before this one of its scripts.
  template <class F>
  void lose_the_server_before(int script, F&& step) {
    gate_.before_each_script([&](int number) { return number < script; });
    EXPECT_THROW(step(), StoreError);
    gate_.before_each_script({});
  }

  TaskId insert(TaskOptions options = {}) {
    NewTask task{"count", "{}", std::move(options)};
    return direct_.parts().tasks().insert(std::span{&task, 1}).at(0).id;
  }
  Claimed claim_one() {
    return direct_.parts().tasks().exchange({.claim = request(1)}).claimed.at(0);
  }
  ClaimRequest request(int limit) const {
    return {.worker = worker_->id(), .kinds = {"count"}, .limit = limit};
  }
  static Exchanged settle(const Engine& engine, const Claimed& claimed, TaskState to) {
    return engine.parts().tasks().exchange(
        {.settle = {{.lease = claimed.lease, .to = to, .reason = "so", .attempt = 1}}});
  }
  TaskState state(TaskId id) { return Inspector{direct_}.task(id).value().state; }
  void expect_sound() {
    const auto found = Inspector{direct_}.check_integrity(true);
    for (const auto& damage : found.damage) ADD_FAILURE() << damage.what;
    EXPECT_FALSE(server_.call({"EXISTS", "{holdfast}:cascade"}).number()) << "all have heard";
  }

  RedisServer server_;
  Events events_;
  RedisGate gate_{server_.port()};
  Engine direct_ = open(server_.address());
  redis::Store store_{redis::Address::parse(server_.address()), nullptr, events_};
  Engine gated_ = open(gate_.address(server_.address()));
  std::unique_ptr<Enlistment> worker_ =
      direct_.parts().workers().enlist(WorkerProfile{{}, {"count"}, 4, std::chrono::seconds{60}});
};

TEST_F(RedisInterleavings, BothPrerequisitesOfATaskEnd) {
  std::optional<Claimed> one, other;
  TaskId last{};
  std::vector<TaskChanged> told;
  between_all_scripts(
      [&] {
        const auto first = insert(), second = insert();
        last = insert({.after = {first, second}});
        one = claim_one(), other = claim_one();
        told.clear();
      },
      [&] {
        std::ranges::move(settle(gated_, *one, TaskState::completed).also,
                          std::back_inserter(told));
      },
      [&] {
        std::ranges::move(settle(direct_, *other, TaskState::completed).also,
                          std::back_inserter(told));
      },
      [&] {
        EXPECT_EQ(state(last), TaskState::pending);
        ASSERT_THAT(told, SizeIs(1)) << "one of them tells";
        EXPECT_EQ(told[0].id, last);
        expect_sound();
        Inspector{direct_}.cancel({.ids = {last}});
      });
}

TEST_F(RedisInterleavings, OnePrerequisiteEndsAndTheOtherIsCancelled) {
  std::optional<Claimed> one;
  TaskId second{}, last{};
  between_all_scripts(
      [&] {
        const auto first = insert();
        one = claim_one();
        second = insert();
        last = insert({.after = {first, second}});
      },
      [&] { settle(gated_, *one, TaskState::completed); },
      [&] { Inspector{direct_}.cancel({.ids = {second}}); },
      [&] {
        EXPECT_EQ(state(last), TaskState::cancelled);
        expect_sound();
      });
}

TEST_F(RedisInterleavings, ATaskIsHeldWhileWhatItWaitsForEnds) {
  for (auto end : {TaskState::completed, TaskState::cancelled}) {
    std::optional<Claimed> one;
    TaskId last{};
    between_all_scripts(
        [&] {
          const auto first = insert();
          one = claim_one();
          last = insert({.after = {first}});
        },
        [&] { settle(gated_, *one, end); },
        [&] { Inspector{direct_}.hold({.ids = {last}}, "wait"); },
        [&] {
          EXPECT_THAT(state(last), AnyOf(TaskState::held, TaskState::cancelled));
          if (state(last) == TaskState::held) {
            Inspector{direct_}.retry({.ids = {last}});
            EXPECT_EQ(state(last), TaskState::pending) << "it has heard of the end";
            Inspector{direct_}.cancel({.ids = {last}});
          }
          expect_sound();
        });
  }
}

TEST_F(RedisInterleavings, WhatWasCancelledBeginsAgainBeforeItsDependentsHaveHeardOfIt) {
  TaskId first{}, before{};
  std::optional<TaskId> later;
  between_all_scripts(
      [&] {
        first = insert();
        before = insert({.after = {first}});
        later.reset();
        lose_the_server_before(3, [&] { Inspector{gated_}.cancel({.ids = {first}}); });
        EXPECT_EQ(state(before), TaskState::blocked);
      },
      [&] { Inspector{gated_}.retry({.ids = {first}}); },
      [&] {
        if (state(first) == TaskState::pending) later = insert({.after = {first}});
      },
      [&] {
        EXPECT_EQ(state(first), TaskState::pending);
        EXPECT_EQ(state(before), TaskState::cancelled);
        if (later) {
          EXPECT_EQ(state(*later), TaskState::blocked) << "it waits for what begins again";
        }
        Inspector{direct_}.cancel({.ids = {first}});
        expect_sound();
      });
}

TEST_F(RedisInterleavings, WhoIsTheLastPrerequisiteIsSeenWhenItsEndIsWritten) {
  const auto first = insert(), second = insert();
  const auto last = insert({.after = {first, second}});
  const auto end_one = [&] {
    const auto claimed = claim_one();
    lose_the_server_before(3, [&] { settle(gated_, claimed, TaskState::completed); });
    return redis::find_dependents(store_);
  };
  const auto slow = end_one();
  ASSERT_THAT(slow.tasks, SizeIs(1));
  EXPECT_TRUE(slow.tasks[0].found.row.waits);
  // As where so much is to be told that a step has only a part of it.
  auto other = end_one();
  ASSERT_THAT(other.tasks, SizeIs(1));
  std::erase_if(other.tasks[0].ended,
                [&](const auto& end) { return end.id == slow.tasks[0].ended.at(0).id; });
  other.tasks[0].found.row.waits = true;
  EXPECT_THAT(redis::end_dependents(store_, other, 1), IsEmpty());
  EXPECT_EQ(state(last), TaskState::blocked);
  EXPECT_THAT(redis::end_dependents(store_, slow, redis::all_dependents), SizeIs(1));
  EXPECT_EQ(state(last), TaskState::pending);
  expect_sound();
}

TEST_F(RedisInterleavings, AnEndIsToldOnceWhateverTheDependentHasBecomeSince) {
  const auto gate = insert(), first = insert();
  const auto last = insert({.after = {gate, first}});
  const auto begin_again = [&] {
    Inspector{direct_}.cancel({.ids = {last}});
    Inspector{direct_}.retry({.ids = {last}});
    EXPECT_EQ(state(last), TaskState::blocked);
  };
  begin_again();
  lose_the_server_before(3, [&] { Inspector{gated_}.cancel({.ids = {first}}); });
  const auto slow = redis::find_dependents(store_);
  EXPECT_THAT(redis::end_dependents(store_, slow, redis::all_dependents), SizeIs(1));
  EXPECT_EQ(state(last), TaskState::cancelled);
  begin_again();
  EXPECT_THAT(redis::end_dependents(store_, slow, redis::all_dependents), IsEmpty());
  EXPECT_EQ(state(last), TaskState::blocked) << "it waits for the other one still";
  expect_sound();
}

TEST_F(RedisInterleavings, WhoDiesBeforeDependentsHearOfAnEndIsContinued) {
  const auto first = insert();
  const auto released = insert({.after = {first}});
  const auto claimed = claim_one();
  constexpr int telling = 3;  // after it was read and written
  lose_the_server_before(telling, [&] { settle(gated_, claimed, TaskState::completed); });
  EXPECT_EQ(state(first), TaskState::completed);
  EXPECT_EQ(state(released), TaskState::blocked);
  const auto next = direct_.parts().tasks().exchange({.claim = request(5)});
  ASSERT_THAT(next.claimed, SizeIs(1)) << "any exchange continues it, and claims it at once";
  EXPECT_EQ(next.claimed[0].lease.id, released);
  ASSERT_THAT(next.also, SizeIs(1));
  EXPECT_EQ(next.also[0].id, released);
  expect_sound();
}

TEST_F(RedisInterleavings, ClaimsWhoseExchangeFailedLaterComeWithTheNextOne) {
  auto& tasks = gated_.parts().tasks();
  const auto ends = insert();
  const auto first = claim_one();
  const auto waits = insert({.priority = 1});
  const Settlement retry{.lease = first.lease,
                         .to = TaskState::pending,
                         .reason = "later",
                         .attempt = 1,
                         .delay = Millis{3'600'000}};
  // Read, written in vain because of what an operator wants meanwhile, and read again.
  gate_.before_each_script([&](int number) {
    if (number == 2) Inspector{direct_}.cancel({.ids = {ends}});
    return number < 3;
  });
  EXPECT_THROW(tasks.exchange({.settle = {retry}, .claim = request(5)}), StoreError);
  gate_.before_each_script({});
  EXPECT_EQ(state(ends), TaskState::running) << "its end was not written";
  EXPECT_EQ(state(waits), TaskState::running) << "it was claimed";
  const auto again = tasks.exchange({.settle = {retry}, .claim = request(5)});
  EXPECT_THAT(again.settled, ElementsAre(Settled::accepted));
  EXPECT_EQ(state(ends), TaskState::cancelled);
  ASSERT_THAT(again.claimed, SizeIs(1)) << "what was claimed in vain";
  EXPECT_EQ(again.claimed[0].lease.id, waits);
  EXPECT_THAT(tasks.exchange({.claim = request(5)}).claimed, IsEmpty());
}

TEST_F(RedisInterleavings, ClaimsWhoseExchangeFailedTwiceComeWithTheNextOne) {
  auto& tasks = gated_.parts().tasks();
  const auto first = insert();
  insert({.after = {first}});
  const auto claimed = claim_one();
  const auto waits = insert();
  const Settlement end{.lease = claimed.lease, .attempt = 1};
  // It claims, and is to tell who waits then.
  for (int i = 0; i < 2; ++i)
    lose_the_server_before(2, [&] { tasks.exchange({.settle = {end}, .claim = request(1)}); });
  const auto again = tasks.exchange({.settle = {end}, .claim = request(1)});
  EXPECT_THAT(again.settled, ElementsAre(Settled::repeated));
  ASSERT_THAT(again.claimed, SizeIs(1));
  EXPECT_EQ(again.claimed[0].lease.id, waits);
}

}  // namespace
}  // namespace holdfast::test
