#include "results/left_queues.hpp"

#include <atomic>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

namespace holdfast::results {
namespace {

/// Has one message in every queue, and delivers none.
class StuckBroker final : public Broker {
 public:
  std::function<Consumer::News()> news = [] {
    return Consumer::News{.unreadable = {{"sick", "INTERNAL_ERROR"}}};
  };
  std::atomic<std::int64_t> counted = 1;  ///< it counts what was not delivered
  std::atomic<int> consumers = 0, removed = 0;

  void declare(const std::string&) override {}
  std::optional<std::int64_t> messages(const std::string&) override { return counted; }
  bool remove(const std::string&) override { return ++removed; }
  using Broker::publish;
  void publish(std::span<const Message>) override {}
  std::unique_ptr<Consumer> consume(const ConsumerOptions&) override {
    ++consumers;
    return std::make_unique<Stuck>(*this);
  }
  std::string name() const override { return "stuck"; }

 private:
  class Stuck final : public Consumer {
   public:
    explicit Stuck(StuckBroker& broker) : broker_{broker} {}
    void listen(const std::string&) override {}
    void ignore(const std::string&) override {}
    News receive(Millis) override { return broker_.news(); }
    void interrupt() override {}
    void acknowledge(std::span<const DeliveryPtr>) override {}
    void reject(const DeliveryPtr&, const std::string&) override {}
    void give_back(std::span<const DeliveryPtr>) override {}

   private:
    StuckBroker& broker_;
  };
};

const WhyLeft no_copy = [](Delivery&) { return std::optional<std::string>{"left"}; };

TEST(LeftQueues, AQueueThatCannotBeReadIsLeftAloneForAWhile) {
  StuckBroker broker;
  LeftQueues queues;
  EXPECT_THROW(queues.leave(broker, "sick", no_copy, true), QueueUnreadable);
  EXPECT_THROW(queues.leave(broker, "sick", no_copy, true), QueueUnreadable);
  EXPECT_EQ(broker.consumers, 1) << "the second time, it is not looked at";
  EXPECT_EQ(broker.removed, 0);
}

TEST(LeftQueues, OneThreadAtATimeReadsThemWhileSomeCannotBeRead) {
  StuckBroker broker;
  LeftQueues queues;
  EXPECT_THROW(queues.leave(broker, "other", no_copy, true), QueueUnreadable);
  std::latch looking{1}, done{1};
  std::atomic<bool> first_look = false;
  broker.news = [&] {
    if (!first_look.exchange(true)) {
      looking.count_down();
      done.wait();
    }
    return Consumer::News{.unreadable = {{"sick", "INTERNAL_ERROR"}}};
  };
  std::jthread first{[&] {
    // The thread that looked before rests for as long as that took.
    for (bool refused = false; !refused;) try {
        queues.leave(broker, "sick", no_copy, true);
      } catch (const QueueUnreadable&) {
        refused = true;
      }
  }};
  looking.wait();
  EXPECT_NO_THROW(EXPECT_FALSE(queues.leave(broker, "another", no_copy, true)))
      << "it is not looked at";
  broker.counted = 0;
  EXPECT_TRUE(queues.leave(broker, "empty", no_copy, true)) << "nothing is to be read";
  EXPECT_EQ(broker.removed, 1);
  done.count_down();
}

TEST(LeftQueues, AMessageThatIsOnItsWayDoesNotGoWithItsQueue) {
  StuckBroker broker;
  broker.news = [&] {
    broker.counted = 0;
    return Consumer::News{};
  };
  EXPECT_THROW(leave_queue(broker, "queue", no_copy, false), QueueUnreadable);
  EXPECT_EQ(broker.removed, 0);
}

}  // namespace
}  // namespace holdfast::results
