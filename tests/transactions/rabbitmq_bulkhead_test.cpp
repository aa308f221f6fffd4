#include <future>
#include <map>
#include <set>

#include <fmt/format.h>

#include "support/amqp_front.hpp"
#include "support/rabbitmq_server.hpp"
#include "transactions/broker_contract.hpp"

namespace holdfast::test {
namespace {

using Clock = std::chrono::steady_clock;
using Sickness = AmqpFront::Sickness;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;

/// A server some of whose queues cannot be read.
class RabbitmqBrokerBulkheads : public testing::Test {
 protected:
  void TearDown() override {
    for (const auto& queue : made_) broker_->remove(queue);
    broker_->remove(dead_letter_queue);
  }
  std::vector<std::string> make(int count) {
    for (int i = 0; i < count; ++i) {
      made_.push_back(fmt::format("q{}", i));
      broker_->declare(made_.back());
      broker_->publish(Message{made_.back(), made_.back()});
    }
    return made_;
  }
  std::string front_address() const {
    return fmt::format("amqp://{}:{}@127.0.0.1:{}", RabbitmqServer::user, RabbitmqServer::password,
                       front_.port());
  }
  /// Takes and acknowledges until all of these have come, or time is over. Returns how many did.
  std::size_t take(Consumer& consumer, std::set<std::string> bodies, std::chrono::seconds at_most) {
    const auto count = bodies.size();
    eventually(
        [&] {
          Consumer::News news;
          try {
            news = consumer.receive(Millis{100});
          } catch (const BrokerError& error) {
            troubles_.push_back(error.what());
          }
          for (const auto& each : news.deliveries) bodies.erase(each->body());
          consumer.acknowledge(news.deliveries);
          for (const auto& [queue, why] : news.unreadable)
            if (why.empty())
              unreadable_.erase(queue);
            else
              unreadable_[queue] = why;
          missing_.insert(missing_.end(), news.missing.begin(), news.missing.end());
          return bodies.empty();
        },
        at_most);
    return count - bodies.size();
  }

  RabbitmqServer& server_ = RabbitmqServer::shared();
  AmqpFront front_{server_.port()};
  std::shared_ptr<Broker> broker_ = open_broker(server_.address());
  std::shared_ptr<Broker> by_front_ = open_broker(front_address());
  std::vector<std::string> made_, missing_, troubles_;
  std::map<std::string, std::string> unreadable_;
};

TEST_F(RabbitmqBrokerBulkheads, SickQueuesDoNotDelayTheOthersAndFlowWhenTheyAreWell) {
  auto queues = make(20);
  const std::set<std::string> sick{"q3", "q7", "q11"};
  front_.make_sick("q3", Sickness::closes);
  front_.make_sick("q7", Sickness::silent);
  front_.make_sick("q11", Sickness::closes);
  auto consumer = by_front_->consume({});
  for (const auto& queue : queues) consumer->listen(queue);
  std::set<std::string> healthy;
  for (const auto& queue : queues)
    if (!sick.contains(queue)) healthy.insert(queue);
  EXPECT_EQ(take(*consumer, healthy, std::chrono::seconds{10}), 17u);
  // While these stay sick, new ones come and the old ones go on.
  for (int round = 0; round < 5; ++round) {
    auto began = Clock::now();
    auto fresh = fmt::format("fresh{}", round);
    made_.push_back(fresh);
    broker_->declare(fresh);
    broker_->publish(Message{fresh, fresh});
    broker_->publish(Message{"q0", "more"});
    consumer->listen(fresh);
    EXPECT_EQ(take(*consumer, {fresh, "more"}, std::chrono::seconds{10}), 2u);
    EXPECT_LT(Clock::now() - began, std::chrono::seconds{5}) << round;
  }
  EXPECT_TRUE(eventually([&] {
    take(*consumer, {"nothing"}, std::chrono::seconds{0});
    return unreadable_.size() == 3;
  })) << testing::PrintToString(unreadable_);
  EXPECT_THAT(unreadable_["q3"], HasSubstr("INTERNAL_ERROR"));
  EXPECT_THAT(unreadable_["q7"], HasSubstr("did not answer"));
  EXPECT_LE(front_.open(), 4) << "connections of one consumer";
  front_.heal();
  EXPECT_EQ(take(*consumer, sick, std::chrono::seconds{60}), 3u);
  EXPECT_TRUE(eventually([&] {
    take(*consumer, {"nothing"}, std::chrono::seconds{0});
    return unreadable_.empty();
  }));
  EXPECT_THAT(missing_, testing::IsEmpty());
  EXPECT_LE(broker_->messages(dead_letter_queue).value_or(0), 0);
}

TEST_F(RabbitmqBrokerBulkheads, AQueueThatIsSickFromNowOnIsLeftBehindWhenTheConnectionIsCut) {
  auto queues = make(6);
  auto consumer = by_front_->consume({});
  for (const auto& queue : queues) consumer->listen(queue);
  ASSERT_EQ(take(*consumer, {queues.begin(), queues.end()}, std::chrono::seconds{30}), 6u);
  front_.make_sick("q1", Sickness::closes);
  front_.make_sick("q2", Sickness::silent);
  server_.cut_connections();  // of the front, too
  for (const auto& queue : queues) broker_->publish(Message{queue, queue});
  EXPECT_EQ(take(*consumer, {"q0", "q3", "q4", "q5"}, std::chrono::seconds{10}), 4u);
  front_.heal();
  EXPECT_EQ(take(*consumer, {"q1", "q2"}, std::chrono::seconds{60}), 2u);
}

// RabbitMQ 3 closes the connection of a consumer that it ends on a queue while that is deleted.
TEST_F(RabbitmqBrokerBulkheads, AQueueIsRemovedWhenTheServerHasEndedItsConsumer) {
  make(1);
  auto consumer = by_front_->consume({});
  consumer->listen("q0");
  ASSERT_EQ(take(*consumer, {"q0"}, std::chrono::seconds{30}), 1u);
  by_front_->messages("q0");  // from now on, no connection need be made for it
  front_.hold_cancels();
  consumer->ignore("q0");
  auto removed = std::async(std::launch::async, [&] { return by_front_->remove("q0"); });
  EXPECT_FALSE(eventually([&] { return front_.deletes() > 0; }, std::chrono::seconds{1}));
  front_.let_go();
  EXPECT_TRUE(removed.get());
  EXPECT_EQ(front_.deletes(), 1);
  EXPECT_THAT(troubles_, testing::IsEmpty());
}

TEST_F(RabbitmqBrokerBulkheads, AQueueWhoseConsumerDoesNotEndIsNotRemovedForNow) {
  make(1);
  auto consumer = by_front_->consume({});
  consumer->listen("q0");
  ASSERT_EQ(take(*consumer, {"q0"}, std::chrono::seconds{30}), 1u);
  front_.hold_cancels();
  consumer->ignore("q0");
  EXPECT_THROW(by_front_->remove("q0"), BrokerError);
  EXPECT_EQ(front_.deletes(), 0);
  // A consumer that is gone ends as well.
  front_.let_go();
  consumer.reset();
  EXPECT_TRUE(by_front_->remove("q0"));
}

TEST_F(RabbitmqBrokerBulkheads, ProbesOfSickQueuesBecomeSeldom) {
  auto queues = make(4);
  for (const auto& queue : queues) front_.make_sick(queue, Sickness::closes);
  auto consumer = by_front_->consume({});
  for (const auto& queue : queues) consumer->listen(queue);
  ASSERT_TRUE(eventually([&] {
    take(*consumer, {"nothing"}, std::chrono::seconds{0});
    return unreadable_.size() == 4;
  }));
  take(*consumer, {"nothing"}, std::chrono::seconds{8});
  // 0.5, 1, 2 and 4 seconds after the first: four or five of each, with those that were together.
  EXPECT_LE(front_.accepted(), 4 * 7);
  const auto until_then = front_.accepted();
  take(*consumer, {"nothing"}, std::chrono::seconds{4});
  EXPECT_LE(front_.accepted() - until_then, 2 * 4);
}

TEST_F(RabbitmqBrokerBulkheads, SilentQueuesDelayNeitherNewOnesNorThoseThatCloseTheirConnections) {
  auto consumer = by_front_->consume({});
  auto listen = [&](const std::string& queue) {
    made_.push_back(queue);
    broker_->declare(queue);
    broker_->publish(Message{queue, queue});
    consumer->listen(queue);
  };
  constexpr int silent = 40;
  for (int i = 0; i < silent; ++i) front_.make_sick(fmt::format("silent{}", i), Sickness::silent);
  front_.make_sick("z-closes", Sickness::closes);
  for (int i = 0; i < silent; ++i) listen(fmt::format("silent{}", i));
  listen("z-closes");
  ASSERT_TRUE(eventually([&] {
    take(*consumer, {"nothing"}, std::chrono::seconds{0});
    return unreadable_.size() == silent + 1;
  })) << testing::PrintToString(unreadable_);
  auto began = Clock::now();
  for (int i = 0; i < 10; ++i) {
    auto fresh = fmt::format("fresh{}", i);
    listen(fresh);
    EXPECT_EQ(take(*consumer, {fresh}, std::chrono::seconds{10}), 1u);
  }
  EXPECT_LT(Clock::now() - began, std::chrono::seconds{4}) << "none waits for what is silent";
  front_.heal("z-closes");
  EXPECT_EQ(take(*consumer, {"z-closes"}, std::chrono::seconds{15}), 1u);
}

TEST_F(RabbitmqBrokerBulkheads, AQueueThatDoesNotAnswerDoesNotStopTheDeclaringOfOthers) {
  auto queues = make(3);
  front_.make_sick("q1", Sickness::silent);
  std::vector<std::jthread> stuck;
  for (int i = 0; i < 3; ++i)
    stuck.emplace_back([&] { EXPECT_THROW(by_front_->messages("q1"), BrokerError); });
  for (int i = 0; i < 20; ++i) {
    auto began = Clock::now();
    by_front_->declare("q0");
    EXPECT_EQ(by_front_->messages("q2"), 1);
    EXPECT_LT(Clock::now() - began, std::chrono::seconds{5});
  }
  stuck.clear();
  auto began = Clock::now();
  EXPECT_THROW(by_front_->messages("q1"), BrokerError);
  EXPECT_LT(Clock::now() - began, std::chrono::seconds{2}) << "refused while its pause lasts";
}

}  // namespace
}  // namespace holdfast::test
