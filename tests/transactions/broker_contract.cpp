#include "transactions/broker_contract.hpp"

#include <algorithm>
#include <thread>

namespace holdfast::test {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<DeliveryPtr> BrokerContract::receive(Consumer& consumer, std::size_t count) {
  std::vector<DeliveryPtr> got;
  eventually([&] {
    auto news = consumer.receive(Millis{100});
    got.insert(got.end(), news.deliveries.begin(), news.deliveries.end());
    return got.size() >= count;
  });
  return got;
}

std::vector<std::string> BrokerContract::bodies(const std::vector<DeliveryPtr>& deliveries) {
  std::vector<std::string> texts;
  for (const auto& delivery : deliveries) texts.push_back(delivery->body());
  return texts;
}

std::int64_t BrokerContract::waiting(const std::string& queue) {
  return broker_->messages(queue).value_or(-1);
}

bool BrokerContract::finds_missing(const std::string& queue) {
  auto consumer = broker_->consume({});
  try {
    consumer->listen(queue);
  } catch (const QueueMissing&) {
    return true;
  }
  std::vector<std::string> missing;
  eventually([&] {
    missing = consumer->receive(Millis{100}).missing;
    return !missing.empty();
  });
  return missing == std::vector{queue};
}

TEST_P(BrokerContract, QueuesAreMadeOnceAndRemoved) {
  EXPECT_FALSE(broker_->exists("q"));
  broker_->declare("q");
  broker_->publish(Message{"q", "kept"});
  broker_->declare("q");
  EXPECT_TRUE(open_again()->exists("q"));
  EXPECT_EQ(waiting("q"), 1);
  EXPECT_TRUE(broker_->remove("q"));
  EXPECT_FALSE(broker_->remove("q"));
  EXPECT_FALSE(broker_->exists("q"));
  EXPECT_THROW(broker_->publish(Message{"q", "lost"}), QueueMissing);
  broker_->declare("q");
  EXPECT_EQ(waiting("q"), 0);
}

TEST_P(BrokerContract, MessagesComeInOrderAsTheyWereSentAndStayUntilTheyAreAcknowledged) {
  broker_->declare("q");
  std::string binary("a\0\n\xff", 4);
  std::vector<Message> sent{
      {"q", binary, "m1", {{"name", "value"}}}, {"q", "", "m2", {}}, {"q", "three", "m3", {}}};
  broker_->publish(sent);
  auto consumer = broker_->consume({});
  consumer->listen("q");
  auto got = receive(*consumer, 3);
  ASSERT_THAT(bodies(got), ElementsAre(binary, "", "three"));
  EXPECT_EQ(got[0]->id(), "m1");
  EXPECT_EQ(got[0]->headers(), (MessageHeaders{{"name", "value"}}));
  EXPECT_EQ(got[0]->queue(), "q");
  EXPECT_EQ(got[0]->deliveries(), 1);
  consumer->acknowledge(std::span{got}.first(2));
  consumer.reset();
  auto next = open_again()->consume({});
  next->listen("q");
  auto again = receive(*next, 1);
  ASSERT_THAT(bodies(again), ElementsAre("three"));
  EXPECT_GE(again[0]->deliveries(), 2);
  next->acknowledge(again);
  EXPECT_TRUE(eventually([&] { return waiting("q") == 0; }));
}

TEST_P(BrokerContract, TwoConsumersShareAQueue) {
  broker_->declare("q");
  auto one = broker_->consume({.prefetch = 2});
  auto other = open_again()->consume({});
  for (int i = 0; i < 10; ++i) broker_->publish(Message{"q", std::to_string(i)});
  one->listen("q");
  auto first = receive(*one, 2);
  other->listen("q");
  auto second = receive(*other, 8);
  EXPECT_EQ(first.size(), 2u);
  EXPECT_EQ(second.size(), 8u);
  std::set<std::string> all;
  for (const auto& part : {first, second})
    for (const auto& text : bodies(part)) all.insert(text);
  EXPECT_EQ(all.size(), 10u);
}

TEST_P(BrokerContract, PrefetchIsBoundedByBytes) {
  broker_->declare("q");
  for (int i = 0; i < 6; ++i) broker_->publish(Message{"q", std::string(10'000, 'x')});
  broker_->publish(Message{"q", std::string(200'000, 'y')});
  auto consumer = broker_->consume({.prefetch_bytes = 25'000});
  consumer->listen("q");
  std::vector<std::size_t> sizes;
  while (sizes.size() < 7) {
    auto got = receive(*consumer, 1);
    ASSERT_FALSE(got.empty());
    for (auto more = consumer->receive(Millis{10}).deliveries; !more.empty();
         more = consumer->receive(Millis{10}).deliveries)
      got.insert(got.end(), more.begin(), more.end());
    std::size_t bytes = 0;
    for (const auto& delivery : got) {
      bytes += delivery->size();
      sizes.push_back(delivery->size());
    }
    EXPECT_TRUE(bytes <= 25'000 || got.size() == 1) << bytes << " in " << got.size();
    consumer->acknowledge(got);
  }
  EXPECT_EQ(std::ranges::count(sizes, 200'000u), 1);
}

TEST_P(BrokerContract, LargeBodiesAreReadInPieces) {
  broker_->declare("q");
  std::string large(3'000'000, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 7 + i / 300);
  broker_->publish(Message{"q", large});
  auto consumer = broker_->consume({});
  consumer->listen("q");
  auto got = receive(*consumer, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0]->size(), large.size());
  std::string piece(1'000, '\0');
  EXPECT_EQ(got[0]->read(2'999'500, piece), 500u);
  EXPECT_EQ(piece.substr(0, 500), large.substr(2'999'500));
  EXPECT_EQ(got[0]->read(3'000'000, piece), 0u);
  EXPECT_TRUE(got[0]->body() == large);
  consumer->acknowledge(got);
  EXPECT_TRUE(got[0]->body() == large) << "in hand as long as it is held";
}

TEST_P(BrokerContract, WhatIsIgnoredOrGivenBackComesAgain) {
  broker_->declare("q");
  broker_->publish(Message{"q", "m"});
  auto consumer = broker_->consume({});
  consumer->listen("q");
  auto got = receive(*consumer, 1);
  consumer->give_back(got);
  got = receive(*consumer, 1);
  ASSERT_EQ(got.size(), 1u);
  consumer->ignore("q");
  EXPECT_THAT(consumer->receive(Millis{50}).deliveries, IsEmpty());
  consumer->listen("q");
  EXPECT_EQ(receive(*consumer, 1).size(), 1u);
}

TEST_P(BrokerContract, WhatIsRejectedIsADeadLetterWithTheReason) {
  broker_->declare("q");
  broker_->publish(Message{"q", "nonsense", "m1", {{"a", "b"}}});
  auto consumer = broker_->consume({});
  consumer->listen("q");
  auto got = receive(*consumer, 1);
  ASSERT_EQ(got.size(), 1u);
  consumer->reject(got[0], "it is not JSON");
  EXPECT_TRUE(eventually([&] { return waiting(dead_letter_queue) == 1; }));
  consumer->listen(dead_letter_queue);
  auto dead = receive(*consumer, 1);
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_EQ(dead[0]->body(), "nonsense");
  EXPECT_EQ(dead[0]->headers().at(dead_letter_reason), "it is not JSON");
  EXPECT_EQ(dead[0]->headers().at(dead_letter_origin), "q");
  EXPECT_EQ(dead[0]->headers().at("a"), "b");
}

TEST_P(BrokerContract, NothingIsADeadLetterForHowOftenItWasDelivered) {
  broker_->declare("q");
  broker_->publish(Message{"q", "patient", "id"});
  for (int i = 0; i < 25; ++i) {
    auto consumer = open_again()->consume({});
    consumer->listen("q");
    auto got = receive(*consumer, 1);
    ASSERT_EQ(got.size(), 1u) << i;
    EXPECT_EQ(got[0]->id(), "id");
  }
  EXPECT_LE(waiting(dead_letter_queue), 0);
}

TEST_P(BrokerContract, AQueueThatGoesUnderAConsumerIsTold) {
  EXPECT_TRUE(finds_missing("never"));
  broker_->declare("q");
  broker_->declare("other");
  auto consumer = broker_->consume({});
  consumer->listen("q");
  consumer->listen("other");
  consumer->receive(Millis{10});
  open_again()->remove("q");
  std::vector<std::string> missing;
  EXPECT_TRUE(eventually([&] {
    missing = consumer->receive(Millis{100}).missing;
    return !missing.empty();
  }));
  EXPECT_THAT(missing, ElementsAre("q"));
  broker_->publish(Message{"other", "goes on"});
  EXPECT_EQ(receive(*consumer, 1).size(), 1u);
}

TEST_P(BrokerContract, WaitingEndsWhenAMessageComesOrSomebodyInterrupts) {
  broker_->declare("q");
  auto consumer = broker_->consume({});
  consumer->listen("q");
  auto other = open_again();
  std::jthread sender{[&] { other->publish(Message{"q", "m"}); }};
  EXPECT_EQ(consumer->receive(std::chrono::minutes{5}).deliveries.size(), 1u);
}

}  // namespace holdfast::test
