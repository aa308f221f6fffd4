#include <atomic>

#include "transactions/runner_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(RunnerScenario, GoesFromStateToStateAndKeepsWhatItKnows) {
  orders_
      .on(Order::placed,
          [](Transaction& order) {
            EXPECT_EQ(order.input<std::string>(), "a cart");
            EXPECT_EQ(order.data_json(), "null");
            order.keep(17);
            return go(Order::paid);
          })
      .on(Order::paid,
          [](Transaction& order) {
            EXPECT_EQ(order.data<int>(), 17);
            EXPECT_EQ(order.id(), "order-1");
            return go(Order::shipped, "by hand");
          })
      .completes(Order::shipped);
  EXPECT_EQ(orders_.start("order-1", "a cart"), "order-1");
  EXPECT_EQ(inspector_.find("order-1")->state, "");
  EXPECT_EQ(work_off().completed, 1);
  auto found = inspector_.find("order-1").value();
  EXPECT_EQ(found.task.state, TaskState::completed);
  EXPECT_EQ(found.state, "shipped");
  EXPECT_EQ(found.reason, "by hand");
  EXPECT_EQ(found.data, "17");
  EXPECT_EQ(found.machine, "orders");
  EXPECT_THAT(path("order-1"), ElementsAre("paid", "shipped"));
}

TEST_F(RunnerScenario, TheSameStartTwiceIsOneTransaction) {
  auto id = orders_.start("", 1);
  EXPECT_TRUE(TaskId::parse(id));
  orders_.start("mine", 1);
  orders_.start("mine", 1);
  EXPECT_THROW(orders_.start("mine", 2), InvalidRequest);
  EXPECT_THROW(orders_.start("not/mine", 1), InvalidRequest);
  EXPECT_THROW(orders_.start(std::string(101, 'x'), 1), InvalidRequest);
  EXPECT_EQ(inspector_.list({.machine = "orders"}).size(), 2u);
  EXPECT_FALSE(inspector_.find("other"));
}

TEST_F(RunnerScenario, LargeNumbersOfTheInputAreNotRounded) {
  start_transaction(engine_, "orders", "n", R"({"n":12345678901234567890123})");
  EXPECT_EQ(inspector_.find("n")->input, R"({"n":12345678901234567890123})");
}

TEST_F(RunnerScenario, OnceRunsOnceAndReturnsTheSameForEver) {
  std::atomic<int> charges = 0, entered = 0;
  orders_
      .on(Order::placed,
          [&](Transaction& order) -> Next {
            auto receipt = order.once("charge", [&](const std::string& name) {
              EXPECT_EQ(name, "o/charge/0");
              return std::to_string(++charges);
            });
            EXPECT_EQ(receipt, "1");
            if (++entered < 3) return stay(Millis{0});
            return go(Order::shipped);
          })
      .completes(Order::shipped);
  orders_.start("o", 0);
  work_off();
  EXPECT_EQ(charges, 1);
  EXPECT_EQ(entered, 3);
  EXPECT_THAT(inspector_.ledger("o"), ElementsAre(LedgerEntry{"charge", 0, "1"}));
}

TEST_F(RunnerScenario, WhatThrowsIsTriedAgainAndWhatItKeptDidNotHappen) {
  std::atomic<int> tries = 0;
  orders_
      .on(
          Order::placed,
          [&](Transaction& order) -> Next {
            EXPECT_EQ(order.data_json(), "null");
            EXPECT_EQ(order.failures(), tries);
            order.keep("half");
            if (++tries < 3) throw std::runtime_error{"not yet"};
            order.keep("whole");
            return go(Order::shipped);
          },
          Rules{.backoff = {.first = Millis{1}}})
      .completes(Order::shipped);
  orders_.start("o", 0);
  work_off();
  EXPECT_EQ(tries, 3);
  EXPECT_EQ(inspector_.find("o")->data, "\"whole\"");
  EXPECT_EQ(inspector_.find("o")->task.attempt, 1) << "no attempt of the task is charged";
}

TEST_F(RunnerScenario, TooManyFailuresLeadWhereTheRulesSay) {
  orders_
      .on(
          Order::placed, [](Transaction&) -> Next { throw std::runtime_error{"no bank"}; },
          Rules{.max_failures = 2, .on_failure = Order::paid, .backoff = {.first = Millis{1}}})
      .on(Order::paid,
          [](Transaction& order) {
            EXPECT_THAT(order.reason(), HasSubstr("no bank"));
            return Next{fail("cleaned up")};
          })
      .fails(Order::refused);
  orders_.start("o", 0);
  work_off();
  auto found = inspector_.find("o").value();
  EXPECT_EQ(found.task.state, TaskState::failed);
  EXPECT_EQ(found.state, "refused");
  EXPECT_THAT(found.task.error, HasSubstr("cleaned up"));
}

TEST_F(RunnerScenario, AFailedOneIsRetriedFromItsFirstStateWithItsLedger) {
  std::atomic<bool> works = false;
  std::atomic<int> charges = 0;
  orders_
      .on(Order::placed,
          [&](Transaction& order) -> Next {
            order.once("charge", [&](const std::string&) { return std::to_string(++charges); });
            if (works) return go(Order::shipped);
            return fail("closed");
          })
      .completes(Order::shipped)
      .fails(Order::refused);
  orders_.start("o", 0);
  work_off();
  ASSERT_EQ(task_state("o"), TaskState::failed);
  works = true;
  EXPECT_TRUE(inspector_.retry("o"));
  work_off();
  EXPECT_EQ(task_state("o"), TaskState::completed);
  EXPECT_EQ(charges, 1);
  EXPECT_THAT(path("o"), ElementsAre("refused", "placed", "shipped"));
}

TEST_F(RunnerScenario, TimeoutsOfStatesAndOfTheWholeLeadOn) {
  orders_
      .on(
          Order::placed, [](Transaction&) { return stay(std::chrono::hours{1}); },
          Rules{.timeout = Millis{20}, .on_timeout = Order::paid})
      .on(Order::paid,
          [](Transaction& order) {
            EXPECT_THAT(order.reason(), HasSubstr("state 'placed' took longer than"));
            return stay(std::chrono::hours{1});
          })
      .fails(Order::refused)
      .timeout(Millis{100});
  orders_.start("o", 0);
  work_off();
  EXPECT_EQ(task_state("o"), TaskState::failed);
  EXPECT_THAT(inspector_.find("o")->task.error, HasSubstr("the transaction took longer than"));
  EXPECT_THAT(path("o"), ElementsAre("paid", "refused"));
}

TEST_F(RunnerScenario, ThousandsWaitWithoutAThread) {
  constexpr int count = 1'000;
  std::atomic<bool> open_now = false;
  orders_
      .on(Order::placed,
          [&](Transaction&) { return open_now ? go(Order::shipped) : stay(Millis{300}); })
      .completes(Order::shipped);
  {
    // Those who write at the same time share a commit.
    std::vector<std::jthread> clients;
    for (int client = 0; client < 20; ++client)
      clients.emplace_back([&] {
        for (int i = 0; i < count / 20; ++i) orders_.start("", i);
      });
  }
  Running running{engine_, orders_.machine(), {.threads = 2}};
  EXPECT_TRUE(eventually(
      [&] {
        auto found = inspector_.list({.machine = "orders"}, {.limit = count});
        return std::ranges::all_of(found, [](const auto& each) { return each.state == "placed"; });
      },
      std::chrono::seconds{60}));
  open_now = true;
  EXPECT_TRUE(eventually(
      [&] {
        return inspector_
                   .list({.machine = "orders", .states = {TaskState::completed}}, {.limit = count})
                   .size() == static_cast<std::size_t>(count);
      },
      std::chrono::seconds{60}));
}

TEST_F(RunnerScenario, ACancelledOneEndsWhereItIs) {
  std::atomic<bool> entered = false;
  orders_
      .on(Order::placed,
          [&](Transaction& order) -> Next {
            entered = true;
            EXPECT_TRUE(eventually([&] { return order.stop_token().stop_requested(); },
                                   std::chrono::seconds{40}));
            return go(Order::paid);
          })
      .on(Order::paid, [](Transaction&) -> Next { throw std::runtime_error{"must not run"}; });
  orders_.start("o", 0);
  Running running{engine_, orders_.machine()};
  ASSERT_TRUE(eventually([&] { return entered.load(); }));
  EXPECT_TRUE(inspector_.cancel("o"));
  EXPECT_TRUE(becomes("o", TaskState::cancelled));
  EXPECT_EQ(inspector_.find("o")->failures, 0);
}

TEST_F(RunnerScenario, MachinesThatMakeNoSenseAreRefused) {
  auto refusal = [&](const StateMachine& machine) -> std::string {
    try {
      TransactionRunner{engine_, machine};
      return {};
    } catch (const InvalidRequest& error) {
      return error.what();
    }
  };
  EXPECT_THAT(refusal(StateMachine{.name = "m", .initial = {}}), HasSubstr("no states"));
  auto enter = [](Transaction&) { return go(Order::paid); };
  States<Order> missing{"m"};
  missing.on(Order::placed, enter, Rules{.on_failure = Order::refused});
  EXPECT_THAT(refusal(missing.machine()), HasSubstr("'refused'"));
  States<Order> deaf{"m"};
  deaf.on(Order::placed, enter).on_messages(Order::placed, {}, {});
  deaf.on_messages(
      Order::placed, [](const Transaction&) { return std::vector<std::string>{}; },
      [](Transaction&, std::span<Incoming>) { return listen(); });
  EXPECT_THAT(refusal(deaf.machine()), HasSubstr("broker"));
}

TEST_F(RunnerScenario, AStateThatIsNotKnownHereIsLeftToOthers) {
  orders_.on(Order::placed, [](Transaction&) { return go(Order::paid); })
      .on(Order::paid, [](Transaction&) { return stay(Millis{0}); });
  orders_.start("o", 0);
  {
    Running running{engine_, orders_.machine()};
    ASSERT_TRUE(gets_to("o", "paid"));
  }
  std::atomic<bool> complained = false;
  engine_.events().subscribe([&](const Event& event) {
    if (auto* trouble = std::get_if<StoreTrouble>(&event))
      complained = complained || trouble->why.find("does not know") != std::string::npos;
  });
  States<Order> older{"orders"};
  older.on(Order::placed, [](Transaction&) { return stay(Millis{0}); });
  Running running{engine_, older.machine()};
  EXPECT_TRUE(eventually([&] { return complained.load(); }));
  EXPECT_TRUE(becomes("o", TaskState::pending));
  EXPECT_EQ(inspector_.find("o")->state, "paid");
}

}  // namespace
}  // namespace holdfast::test
