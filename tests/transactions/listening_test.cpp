#include <atomic>

#include "transactions/runner_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Listening : public RunnerScenario {
 protected:
  static std::string queue_of(const Transaction& order) { return "mail-" + order.id(); }
  static QueueNames queues() {
    return [](const Transaction& order) { return std::vector{queue_of(order)}; };
  }
  /// Waits for as many messages as its input says, and records each.
  void collect() {
    orders_
        .on(Order::placed,
            [this](Transaction& order) {
              broker_->declare(queue_of(order));
              return go(Order::paid);
            })
        .on(
            Order::paid,
            [](Transaction& order) {
              order.memory() = std::make_shared<int>(static_cast<int>(order.ledger().size()));
              return listen();
            },
            Rules{.on_missing_queue = Order::refused})
        .on_messages(Order::paid, queues(),
                     [](Transaction& order, std::span<Incoming> messages) {
                       auto& count = *static_cast<int*>(order.memory().get());
                       for (auto& message : messages) {
                         auto text = message.delivery().body();
                         if (text == "bad") {
                           message.reject("it is bad");
                           continue;
                         }
                         order.record({{"mail", ++count, text}});
                       }
                       return count < order.input<int>() ? listen() : go(Order::shipped);
                     })
        .completes(Order::shipped)
        .fails(Order::refused);
  }
  TransactionOptions options() const { return {.threads = 2, .broker = broker_}; }
  std::int64_t messages_in(const std::string& queue) const {
    return broker_->messages(queue).value_or(-1);
  }

  std::shared_ptr<Broker> broker_ = open_broker(engine_);
};

TEST_F(Listening, MessagesAreHandedOverAndGoneWhenTheyAreDealtWith) {
  collect();
  for (auto id : {"a", "b"}) orders_.start(id, 3);
  Running running{engine_, orders_.machine(), options()};
  ASSERT_TRUE(gets_to("a", "paid"));
  ASSERT_TRUE(gets_to("b", "paid"));
  for (auto text : {"1", "bad", "2", "3"}) broker_->publish(Message{"mail-a", text});
  EXPECT_TRUE(becomes("a", TaskState::completed));
  EXPECT_EQ(inspector_.ledger("a").size(), 3u);
  EXPECT_TRUE(eventually([&] { return messages_in("mail-a") == 0; }));
  EXPECT_EQ(messages_in(dead_letter_queue), 1);
  EXPECT_EQ(task_state("b"), TaskState::running) << "still listens";
}

TEST_F(Listening, ManyListenWithTwoThreads) {
  collect();
  constexpr int count = 120;
  std::vector<std::string> ids;
  for (int i = 0; i < count; ++i) ids.push_back(orders_.start("", 1));
  Running running{engine_, orders_.machine(), options()};
  for (const auto& id : ids) ASSERT_TRUE(gets_to(id, "paid"));
  std::vector<Message> mail;
  for (const auto& id : ids) mail.push_back({"mail-" + id, "m"});
  broker_->publish(mail);
  for (const auto& id : ids) ASSERT_TRUE(becomes(id, TaskState::completed));
}

TEST_F(Listening, ADrainedRunnerGivesBackWhatListensAtOnceAndTheNextGoesOn) {
  collect();
  orders_.start("a", 2);
  auto began = std::chrono::steady_clock::now();
  {
    Running running{engine_, orders_.machine(), options()};
    ASSERT_TRUE(gets_to("a", "paid"));
    broker_->publish(Message{"mail-a", "1"});
    ASSERT_TRUE(eventually([&] { return inspector_.ledger("a").size() == 1; }));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{25});
  EXPECT_EQ(task_state("a"), TaskState::pending);
  broker_->publish(Message{"mail-a", "2"});
  Running running{engine_, orders_.machine(), options()};
  EXPECT_TRUE(becomes("a", TaskState::completed));
}

TEST_F(Listening, AQueueThatGoesLeadsWhereTheRulesSay) {
  collect();
  orders_.start("a", 2);
  Running running{engine_, orders_.machine(), options()};
  ASSERT_TRUE(gets_to("a", "paid"));
  broker_->remove("mail-a");
  EXPECT_TRUE(becomes("a", TaskState::failed));
  EXPECT_THAT(inspector_.find("a")->task.error, HasSubstr("queue"));
}

TEST_F(Listening, WhoListensLongEnoughEntersItsStateAgain) {
  std::atomic<int> entered = 0;
  broker_->declare("mail-a");
  orders_
      .on(Order::placed,
          [&](Transaction&) { return ++entered < 3 ? listen(Millis{30}) : go(Order::shipped); })
      .on_messages(Order::placed, queues(),
                   [](Transaction&, std::span<Incoming>) { return listen(); })
      .completes(Order::shipped);
  orders_.start("a", 0);
  Running running{engine_, orders_.machine(), options()};
  EXPECT_TRUE(becomes("a", TaskState::completed));
  EXPECT_EQ(entered, 3);
}

TEST_F(Listening, WhatAStepSendsIsSentBeforeTheNextStateIsEnteredAndOnlyIfTheStepIsDurable) {
  broker_->declare("out");
  std::atomic<int> tries = 0;
  orders_
      .on(
          Order::placed,
          [&](Transaction& order) -> Next {
            order.send({"out", "hello", "id-1"});
            if (++tries == 1) throw std::runtime_error{"after all not"};
            return go(Order::paid);
          },
          Rules{.backoff = {.first = Millis{1}}})
      .on(Order::paid,
          [&](Transaction&) {
            EXPECT_EQ(messages_in("out"), 1);
            return go(Order::shipped);
          })
      .completes(Order::shipped);
  orders_.start("a", 0);
  work_off(options());
  EXPECT_EQ(task_state("a"), TaskState::completed);
  EXPECT_THAT(inspector_.outbox("a"), testing::IsEmpty());
}

TEST_F(Listening, WhatCannotBeSentWaitsInTheOutbox) {
  orders_
      .on(Order::placed,
          [&](Transaction& order) {
            order.send({"later", "hello"});
            return go(Order::shipped);
          })
      .completes(Order::shipped);
  orders_.start("a", 0);
  Running running{engine_, orders_.machine(), options()};
  ASSERT_TRUE(gets_to("a", "shipped"));
  EXPECT_EQ(inspector_.outbox("a").size(), 1u);
  EXPECT_NE(task_state("a"), TaskState::completed) << "not before it is sent";
  broker_->declare("later");
  EXPECT_TRUE(becomes("a", TaskState::completed));
  EXPECT_EQ(messages_in("later"), 1);
}

TEST_F(Listening, AMessageThatCannotBeSentDoesNotOutlastTheTimeLimit) {
  orders_
      .on(Order::placed,
          [&](Transaction& order) {
            order.send({"nowhere", "hello"});
            return go(Order::paid);
          })
      .on(
          Order::paid, [](Transaction&) { return go(Order::shipped); },
          Rules{.timeout = Millis{300}, .on_timeout = Order::refused})
      .completes(Order::shipped)
      .fails(Order::refused);
  orders_.start("a", 0);
  Running running{engine_, orders_.machine(), options()};
  ASSERT_TRUE(becomes("a", TaskState::failed));
  EXPECT_THAT(
      inspector_.find("a")->task.error,
      testing::AllOf(HasSubstr("state 'paid' took longer than"),
                     HasSubstr("messages that could not be sent: 1"), HasSubstr("'nowhere'")));
  EXPECT_THAT(inspector_.outbox("a"), testing::IsEmpty());
}

TEST_F(Listening, WhatATransactionWaitsForIsSaid) {
  orders_
      .on(Order::placed,
          [&](Transaction& order) {
            order.send({"nowhere", "hello"});
            return go(Order::shipped);
          })
      .completes(Order::shipped);
  orders_.start("a", 0);
  Running running{engine_, orders_.machine(), options()};
  EXPECT_TRUE(eventually([&] {
    return inspector_.find("a")->error.find("there is no queue 'nowhere'") != std::string::npos;
  }));
}

/// Handlers of one state that fail in ways that a test chooses.
class FailingMessages : public Listening {
 protected:
  /// Completes when three good ones have come; `fails` may throw.
  void collect_three(const std::function<void(const std::string& text)>& fails) {
    orders_
        .on(Order::placed,
            [this](Transaction& order) {
              broker_->declare(queue_of(order));
              return go(Order::paid);
            })
        .on(
            Order::paid, [](Transaction&) { return listen(); },
            Rules{.max_failures = 10, .backoff = {.first = Millis{1}, .longest = Millis{1}}})
        .on_messages(Order::paid, queues(),
                     [fails](Transaction& order, std::span<Incoming> messages) {
                       for (auto& message : messages) {
                         auto text = message.delivery().body();
                         fails(text);
                         order.record({{"mail", std::stoi(text), text}});
                       }
                       return order.ledger().size() < 3 ? listen() : go(Order::shipped);
                     })
        .completes(Order::shipped)
        .fails(Order::refused);
  }
  std::vector<std::string> notes_of(std::string_view what) {
    std::lock_guard lock{mutex_};
    std::vector<std::string> found;
    for (const auto& note : notes_)
      if (note.find(what) != note.npos) found.push_back(note);
    return found;
  }
  void listen_to_notes() {
    engine_.events().subscribe([this](const Event& event) {
      if (const auto* dead = std::get_if<MessageRejected>(&event)) {
        std::lock_guard lock{mutex_};
        notes_.push_back(to_text(event));
        EXPECT_EQ(dead->queue, "mail-a");
        EXPECT_EQ(dead->message, "id-of-7");
        EXPECT_EQ(dead->reason, "its handler failed 5 times");
      }
    });
  }

  std::mutex mutex_;
  std::vector<std::string> notes_;
};

TEST_F(FailingMessages, OneWithWhichItsHandlerFailsIsADeadLetterAndTheOthersAreTaken) {
  std::atomic<int> failures = 0;
  collect_three([&](const std::string& text) {
    if (text != "7") return;
    ++failures;
    throw std::runtime_error{"seven cannot be"};
  });
  listen_to_notes();
  orders_.start("a", 3);
  broker_->declare("mail-a");
  for (auto text : {"1", "7", "2", "3"})
    broker_->publish(Message{"mail-a", text, "id-of-" + std::string{text}});
  const Running running{engine_, orders_.machine(), options()};
  EXPECT_TRUE(becomes("a", TaskState::completed));
  EXPECT_LE(failures, 1 + options().message_failures) << "together with others, and alone";
  EXPECT_EQ(inspector_.ledger("a").size(), 3u);
  ASSERT_EQ(messages_in(dead_letter_queue), 1);
  auto consumer = broker_->consume({});
  consumer->listen(dead_letter_queue);
  auto dead = consumer->receive(std::chrono::seconds{10}).deliveries;
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_EQ(dead[0]->body(), "7");
  EXPECT_EQ(dead[0]->headers().at(dead_letter_reason), "its handler failed 5 times");
  EXPECT_THAT(
      notes_of("dead letter"),
      ElementsAre("transaction a (orders): message 'id-of-7' of queue 'mail-a' is a dead letter: "
                  "its handler failed 5 times"));
}

TEST_F(FailingMessages, WhatTheirHandlerNeedsMayBeAwayForLong) {
  std::atomic<int> calls = 0;
  collect_three([&](const std::string& text) {
    if (text != "1" || ++calls > 5) return;
    if (calls == 1) throw std::runtime_error{"once by itself, so that it is looked at from now on"};
    throw BrokerError{"away"};
  });
  orders_.start("a", 3);
  broker_->declare("mail-a");
  for (auto text : {"1", "2", "3"}) broker_->publish(Message{"mail-a", text});
  auto few = options();
  few.message_failures = 2;
  few.message_deaths = 2;
  const Running running{engine_, orders_.machine(), few};
  EXPECT_TRUE(becomes("a", TaskState::completed));
  EXPECT_GT(calls, 5);
  EXPECT_LE(messages_in(dead_letter_queue), 0);
}

}  // namespace
}  // namespace holdfast::test
