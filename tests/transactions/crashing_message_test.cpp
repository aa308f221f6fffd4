#include <atomic>
#include <csignal>
#include <cstdlib>

#include "recovery/fatal_signals.hpp"
#include "transactions/results_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr const char* poison = "poison";
constexpr const char* mail = "mail-of-crashing";

/// The handler crashes for one message, whatever comes with it, in a process of its own: the same
/// program, with `CrashingProcess` in place of a test.
class CrashingMessages : public ResultsScenario {
 protected:
  void TearDown() override {
    broker_->remove(mail);
    for (const auto& id : {"wish-1", "wish-2", poison}) {
      broker_->remove(results::header_queue(id));
      broker_->remove(results::payload_queue(id));
    }
    ResultsScenario::TearDown();
  }
  Finished process(const std::string& what) const {
    return test::run(
        {"/proc/self/exe", "--gtest_filter=*CrashingProcess." + what},
        {{"HOLDFAST_CRASHING_STORE", address_}, {"HOLDFAST_CRASHING_BROKER", broker_address_}});
  }
  /// Until one of them ends well. Returns how many crashed.
  int crash_until_well(const std::string& what) const {
    for (int deaths = 0; deaths < 30; ++deaths) {
      const auto ended = process(what);
      if (ended.ending.ok()) return deaths;
      EXPECT_EQ(ended.ending.signal, SIGILL) << ended.out << ended.err;
      if (ended.ending.signal != SIGILL) break;
    }
    ADD_FAILURE() << "it never ended well";
    return -1;
  }
};

/// What `CrashingMessages` starts.
class CrashingProcess : public testing::Test {
 protected:
  /// By a test; alone it is none.
  static bool is_started() { return std::getenv("HOLDFAST_CRASHING_STORE") != nullptr; }
  static Engine opened() {
    record_fatal_signals();
    return open(std::getenv("HOLDFAST_CRASHING_STORE"));
  }
  static std::shared_ptr<Broker> broker_of(const Engine& engine) {
    const std::string address = std::getenv("HOLDFAST_CRASHING_BROKER");
    return address == std::getenv("HOLDFAST_CRASHING_STORE") ? open_broker(engine)
                                                             : open_broker(address);
  }
};

TEST_F(CrashingProcess, Collects) {
  if (!is_started()) return;
  const auto engine = opened();
  const auto broker = broker_of(engine);
  // It does not end before the poison is out of the way, in whatever order they come.
  auto next = [&](Transaction& order) {
    const bool buried = broker->messages(dead_letter_queue).value_or(0) > 0;
    return buried && order.ledger().size() == 3 ? go(Order::paid) : listen(Millis{100});
  };
  Transactions<Order> orders{engine, "crashing"};
  orders.on(Order::placed, next)
      .on_messages(
          Order::placed, [](const Transaction&) { return std::vector<std::string>{mail}; },
          [&](Transaction& order, std::span<Incoming> messages) {
            for (auto& message : messages) {
              const auto text = message.delivery().body();
              if (text == poison) __builtin_trap();  // a signal that no one sent
              order.record({{text, 1, "stored"}});
            }
            return next(order);
          })
      .completes(Order::paid);
  TransactionRunner{engine, orders.machine(), {.threads = 1, .broker = broker, .until_empty = true}}
      .run();
}

TEST_F(CrashingMessages, BecomeDeadLettersAndTheOthersAreStored) {
  broker_->declare(mail);
  for (const auto* text : {"one", poison, "two", "three"}) broker_->publish(Message{mail, text});
  start_transaction(engine_, "crashing", "tx", "null");
  EXPECT_GE(crash_until_well("Collects"), 2);
  EXPECT_EQ(inspector_.find("tx")->task.state, TaskState::completed);
  std::vector<std::string> stored;
  for (const auto& entry : inspector_.ledger("tx"))
    if (entry.value == "stored") stored.push_back(entry.series);
  EXPECT_THAT(stored, UnorderedElementsAre("one", "two", "three"));
  const auto letters = take(dead_letter_queue, 1);
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0]->body(), poison);
  EXPECT_THAT(letters[0]->headers().at(dead_letter_reason),
              HasSubstr("the process crashed 2 times"));
}

/// A broker whose consumers crash when they acknowledge the poison.
class CrashingBroker final : public Broker {
 public:
  explicit CrashingBroker(std::shared_ptr<Broker> real) : real_{std::move(real)} {}

  void declare(const std::string& queue) override { real_->declare(queue); }
  std::optional<std::int64_t> messages(const std::string& queue) override {
    return real_->messages(queue);
  }
  bool remove(const std::string& queue) override { return real_->remove(queue); }
  void publish(std::span<const Message> messages) override { real_->publish(messages); }
  std::unique_ptr<Consumer> consume(const ConsumerOptions& options) override {
    return std::make_unique<Crashing>(real_->consume(options));
  }
  std::string name() const override { return real_->name(); }

 private:
  class Crashing final : public Consumer {
   public:
    explicit Crashing(std::unique_ptr<Consumer> real) : real_{std::move(real)} {}
    void listen(const std::string& queue) override { real_->listen(queue); }
    void ignore(const std::string& queue) override { real_->ignore(queue); }
    News receive(Millis timeout) override { return real_->receive(timeout); }
    void interrupt() override { real_->interrupt(); }
    void acknowledge(std::span<const DeliveryPtr> deliveries) override {
      for (const auto& each : deliveries)
        if (each->body().find(poison) != std::string::npos) __builtin_trap();
      real_->acknowledge(deliveries);
    }
    void reject(const DeliveryPtr& delivery, const std::string& reason) override {
      real_->reject(delivery, reason);
    }
    void give_back(std::span<const DeliveryPtr> deliveries) override {
      real_->give_back(deliveries);
    }

   private:
    std::unique_ptr<Consumer> real_;
  };

  std::shared_ptr<Broker> real_;
};

TEST_F(CrashingProcess, TakesWishes) {
  if (!is_started()) return;
  const auto engine = opened();
  results::Options options{.broker = std::make_shared<CrashingBroker>(broker_of(engine)),
                           .request_queue = "requests",
                           .notify_queue = "notices",
                           .intake_queue = "wishes"};
  const results::Intake intake{engine, options};
  ASSERT_TRUE(eventually([&] {
    return options.broker->messages(dead_letter_queue).value_or(0) == 1 &&
           options.broker->messages("wishes").value_or(1) == 0;
  }));
}

TEST_F(CrashingMessages, OfTheIntakeBecomeDeadLettersAndTheOthersAreStarted) {
  broker_->declare("wishes");
  for (const auto* id : {"wish-1", poison, "wish-2"})
    broker_->publish(Message{"wishes", fmt::format(R"({{"transactionId":"{}"}})", id)});
  EXPECT_EQ(crash_until_well("TakesWishes"), 11) << "the first time, and ten attempts";
  for (const auto* id : {"wish-1", "wish-2"}) EXPECT_TRUE(inspector_.find(id)) << id;
  const auto letters = take(dead_letter_queue, 1);
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_THAT(letters[0]->body(), HasSubstr(poison));
  EXPECT_THAT(letters[0]->headers().at(dead_letter_reason),
              HasSubstr("the process ended 10 times while it was taken"));
  EXPECT_EQ(
      Inspector{engine_}.count({.states = {TaskState::pending}, .kind = "holdfast.intake-attempt"}),
      0)
      << "the attempts are forgotten";
}

}  // namespace
}  // namespace holdfast::test
