#include <set>

#include "support/rabbitmq_server.hpp"
#include "transactions/broker_contract.hpp"

namespace holdfast::test {
namespace {

/// A server that goes away, comes back and is full. All tests of the program share it, so each
/// leaves it as it was.
class RabbitmqBrokerTrouble : public testing::Test {
 protected:
  void TearDown() override {
    for (auto queue : {"q", dead_letter_queue}) broker_->remove(queue);
  }
  /// Receives through all troubles until every one of these has come and is acknowledged.
  static bool gets(Consumer& consumer, std::set<std::string> bodies) {
    return eventually(
        [&] {
          try {
            auto [got, missing, unreadable] = consumer.receive(Millis{200});
            for (const auto& each : got) bodies.erase(each->body());
            consumer.acknowledge(got);
            EXPECT_THAT(missing, testing::IsEmpty());
            for (const auto& each : unreadable) troubles_.push_back(each.why);
          } catch (const BrokerError& error) {
            troubles_.push_back(error.what());
          }
          return bodies.empty();
        },
        std::chrono::seconds{60});
  }

  static inline std::vector<std::string> troubles_;
  RabbitmqServer& server_ = RabbitmqServer::shared();
  std::shared_ptr<Broker> broker_ = open_broker(server_.address());
};

TEST_F(RabbitmqBrokerTrouble, ConnectionsThatAreCutAreMadeAgain) {
  broker_->declare("q");
  broker_->publish(Message{"q", "before"});
  auto consumer = broker_->consume({});
  consumer->listen("q");
  std::vector<DeliveryPtr> old;
  ASSERT_TRUE(eventually([&] {
    old = consumer->receive(Millis{100}).deliveries;
    return !old.empty();
  }));
  server_.cut_connections();
  broker_->publish(Message{"q", "after"});
  EXPECT_TRUE(gets(*consumer, {"before", "after"})) << "what was not acknowledged comes again";
  consumer->acknowledge(old);  // says nothing to a broker that has it back
  broker_->publish(Message{"q", "later"});
  EXPECT_TRUE(gets(*consumer, {"later"}));
}

TEST_F(RabbitmqBrokerTrouble, WhatWasConfirmedSurvivesAServerThatIsKilled) {
  broker_->declare("q");
  auto consumer = broker_->consume({});
  consumer->listen("q");
  std::set<std::string> bodies;
  // A server of this version forgets a queue that was made in its last second.
  auto until = std::chrono::steady_clock::now() + std::chrono::seconds{2};
  while (std::chrono::steady_clock::now() < until || bodies.size() < 600) {
    std::vector<Message> messages;
    for (int i = 0; i < 50; ++i) {
      messages.push_back({"q", std::to_string(bodies.size())});
      bodies.insert(messages.back().body);
    }
    broker_->publish(messages);
  }
  server_.kill();
  EXPECT_THROW(broker_->publish(Message{"q", "lost"}), BrokerError);
  server_.start();
  EXPECT_TRUE(gets(*consumer, bodies)) << testing::PrintToString(troubles_);
  EXPECT_FALSE(troubles_.empty()) << "and it is said";
}

TEST_F(RabbitmqBrokerTrouble, AQueueThatIsDownIsNeitherEmptyNorRemoved) {
  broker_->declare("q");
  broker_->publish(Message{"q", "in it"});
  server_.kill_leaders_for_good({"q"});
  EXPECT_THROW(broker_->messages("q"), BrokerError);
  EXPECT_THROW(broker_->remove("q"), BrokerError);
  server_.revive_leaders({"q"});
  EXPECT_TRUE(eventually([&] {
    try {
      return broker_->messages("q") == 1;
    } catch (const BrokerError&) {
      return false;
    }
  }));
  auto consumer = broker_->consume({});
  consumer->listen("q");
  EXPECT_TRUE(gets(*consumer, {"in it"}));
  EXPECT_EQ(broker_->messages("q"), 0);
}

TEST_F(RabbitmqBrokerTrouble, WhileItsDiskIsFullMessagesWaitAndAreTaken) {
  broker_->declare("q");
  auto consumer = broker_->consume({});
  consumer->listen("q");
  std::set<std::string> bodies;
  auto full = server_.fill_disk_for(Millis{3'000});
  EXPECT_TRUE(eventually(
      [&] {
        auto began = std::chrono::steady_clock::now();
        auto body = std::to_string(bodies.size());
        broker_->publish(Message{"q", body});
        bodies.insert(body);
        return std::chrono::steady_clock::now() - began > std::chrono::seconds{1};
      },
      std::chrono::seconds{60}))
      << "nothing waited";
  EXPECT_TRUE(gets(*consumer, bodies));
}

}  // namespace
}  // namespace holdfast::test
