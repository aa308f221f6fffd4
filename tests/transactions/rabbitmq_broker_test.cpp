#include "engines/rabbitmq/pause.hpp"
#include "engines/rabbitmq/publisher.hpp"
#include "support/rabbitmq_server.hpp"
#include "transactions/broker_contract.hpp"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

INSTANTIATE_TEST_SUITE_P(Rabbitmq, BrokerContract,
                         testing::Values(BrokerCase{"Quorum",
                                                    [](const TempStore&) {
                                                      return open_broker(
                                                          RabbitmqServer::shared().address());
                                                    }}),
                         [](const auto& each) { return each.param.name; });

TEST(RabbitmqBrokerPublisher, WaitsLongerForTheConfirmOfALargeMessage) {
  EXPECT_EQ(rabbitmq::patience_for(1'000), Millis{30'001});
  EXPECT_GE(rabbitmq::patience_for(250'000'000), std::chrono::minutes{4});
}

TEST(RabbitmqBrokerReconnecting, OnlyAConnectionThatLastedShortensThePause) {
  rabbitmq::Reconnecting reconnecting;
  std::vector<Millis> pauses;
  for (int i = 0; i < 8; ++i) pauses.push_back(reconnecting.ended_after(Millis{50}));
  EXPECT_LE(pauses.front(), Millis{100});
  for (std::size_t i = 5; i < pauses.size(); ++i)
    EXPECT_GE(pauses[i], Millis{1'500}) << "a connection that was made and closed is no success";
  EXPECT_LE(pauses.back(), Millis{3'000});
  reconnecting.ended_after(std::chrono::minutes{1});
  EXPECT_LE(reconnecting.ended_after(Millis{0}), Millis{200});
}

std::string refusal(const std::string& address) {
  try {
    open_broker(address)->exists("q");
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

class RabbitmqBroker : public testing::Test {
 protected:
  void TearDown() override {
    for (auto queue : {"q", "classic", dead_letter_queue}) broker_->remove(queue);
  }
  static DeliveryPtr one(Consumer& consumer) {
    DeliveryPtr got;
    eventually(
        [&] {
          auto news = consumer.receive(Millis{200}).deliveries;
          if (!news.empty()) got = news.front();
          return got != nullptr;
        },
        std::chrono::seconds{30});
    return got;
  }

  RabbitmqServer& server_ = RabbitmqServer::shared();
  std::shared_ptr<Broker> broker_ = open_broker(server_.address());
};

TEST(RabbitmqBrokerAddress, IsReadAndNeverShowsAPassword) {
  auto name = [](const std::string& address) { return open_broker(address)->name(); };
  EXPECT_EQ(name("amqp://localhost"), "amqp://localhost:5672");
  EXPECT_EQ(name("amqps://u:p@[::1]:7/a%2fb?tls_name=x"), "amqps://[::1]:7/a/b");
  for (std::string wrong :
       {"amqp://u:secret@h:x", "amqp://u:secret@h:99999", "amqp:secret", "amqp://u:secret@",
        "amqp://u:secret@h?colour=secret", "amqp://u:secret@h?queues=lazy",
        "amqp://u:secret@h?heartbeat=0", "amqp://u:se#cret@h", "amqp://u:secret@h?tls_ca=f",
        "amqps://u:secret@h?tls_cert=f", "amqp://u@h?password_file=/none"}) {
    auto why = refusal(wrong);
    EXPECT_THAT(why, HasSubstr("broker")) << wrong;
    EXPECT_THAT(why, Not(HasSubstr("secret"))) << wrong;
  }
}

TEST_F(RabbitmqBroker, QueuesAreDurableAndPassOnWhatIsDeliveredTooOften) {
  broker_->declare("q");
  open_broker(server_.address("queues=classic"))->declare("classic");
  // A queue that is there may be declared again in exactly the same way only.
  auto same = test::run({"/usr/bin/python3", "-c", R"(
import sys, pika
channel = pika.BlockingConnection(pika.URLParameters(sys.argv[1])).channel()
channel.queue_declare("q", durable=True, arguments={
    "x-queue-type": "quorum", "x-delivery-limit": 1000000, "x-overflow": "reject-publish",
    "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "holdfast-dead-letters",
    "x-dead-letter-strategy": "at-least-once"})
channel.queue_declare("holdfast-dead-letters", durable=True, arguments={
    "x-queue-type": "quorum", "x-delivery-limit": 1000000})
channel.queue_declare("classic", durable=True)
)",
                         server_.address().substr(0, server_.address().find('?'))});
  EXPECT_TRUE(same.ending.ok()) << same.err;
  // Whoever made it: it is there, and is used as it is.
  broker_->declare("classic");
  broker_->publish(Message{"classic", "m"});
  auto consumer = broker_->consume({});
  consumer->listen("classic");
  EXPECT_EQ(one(*consumer)->body(), "m");
}

TEST_F(RabbitmqBroker, WhatIsLargerThanMayBeHeldGoesThroughAFile) {
  broker_->declare("q");
  std::string large(3'000'000, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 7 + i / 300);
  broker_->publish(Message{"q", large, "id", {{"a", "b"}}});
  {
    auto nowhere =
        open_broker(server_.address("spool=/nowhere"))->consume({.prefetch_bytes = 1000});
    nowhere->listen("q");
    std::string why;
    EXPECT_TRUE(eventually([&] {
      try {
        nowhere->receive(Millis{200});
      } catch (const BrokerError& error) {
        why = error.what();
      }
      return !why.empty();
    }));
    EXPECT_THAT(why, HasSubstr("/nowhere"));
  }
  auto consumer = broker_->consume({.prefetch_bytes = 1'000'000});
  consumer->listen("q");
  auto got = one(*consumer);
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->body() == large);
  consumer->reject(got, "it is large");
  consumer->listen(dead_letter_queue);
  auto dead = one(*consumer);
  ASSERT_TRUE(dead);
  EXPECT_TRUE(dead->body() == large);
  EXPECT_EQ(dead->id(), "id");
}

TEST_F(RabbitmqBroker, WhatIsGivenBackOftenIsNoPoison) {
  // The queue of somebody else, with the limit that RabbitMQ 4 has by default.
  open_broker(server_.address("delivery_limit=20"))->declare("q");
  broker_->publish(Message{"q", "m", "id", {{"a", "b"}}});
  auto consumer = broker_->consume({});
  for (int i = 0; i < 40; ++i) {
    consumer->listen("q");
    auto got = one(*consumer);
    ASSERT_TRUE(got) << i;
    EXPECT_EQ(got->body(), "m");
    EXPECT_EQ(got->headers(), (MessageHeaders{{"a", "b"}}));
    EXPECT_EQ(got->id(), "id");
    if (i % 2)
      consumer->ignore("q");
    else
      consumer->give_back(std::span{&got, 1});
  }
  EXPECT_EQ(broker_->messages(dead_letter_queue), 0);
}

TEST_F(RabbitmqBroker, AQueueThatWeMakeHasNoLimitOfDeliveries) {
  broker_->declare("q");
  broker_->publish(Message{"q", "m", "id"});
  // Another client, which gives the message back as a connection that is cut would.
  auto plain = server_.address().substr(0, server_.address().find('?'));
  auto returned = test::run({"/usr/bin/python3", "-c", R"(
import sys, pika
channel = pika.BlockingConnection(pika.URLParameters(sys.argv[1])).channel()
for i in range(150):
    for method, properties, body in channel.consume("q", inactivity_timeout=20):
        channel.basic_nack(method.delivery_tag, requeue=True)
        break
)",
                             plain});
  ASSERT_TRUE(returned.ending.ok()) << returned.err;
  auto consumer = broker_->consume({});
  consumer->listen("q");
  auto got = one(*consumer);
  ASSERT_TRUE(got);
  EXPECT_GT(got->deliveries(), 100);
  EXPECT_EQ(broker_->messages(dead_letter_queue), 0);
}

TEST_F(RabbitmqBroker, TlsIsCheckedFromEndToEnd) {
  EXPECT_EQ(refusal(server_.tls_address("tls_ca=" + server_.certificate())), "");
  EXPECT_THAT(refusal(server_.tls_address()), HasSubstr("certificate verify failed"));
  EXPECT_THAT(refusal(server_.tls_address("tls_name=other&tls_ca=" + server_.certificate())),
              HasSubstr("certificate verify failed"));
  EXPECT_THAT(refusal(server_.tls_address("tls_ca=/none")), HasSubstr("/none"));
  auto broker = open_broker(server_.tls_address("tls_ca=" + server_.certificate()));
  broker->declare("q");
  std::string large(1'000'000, 'x');
  broker->publish(Message{"q", large});
  auto consumer = broker->consume({});
  consumer->listen("q");
  EXPECT_TRUE(one(*consumer)->body() == large);
}

TEST_F(RabbitmqBroker, WhoMayNotIsToldSoWithoutThePassword) {
  auto port = server_.port();
  auto address = "amqp://tester:wrong-one@127.0.0.1:" + std::to_string(port);
  EXPECT_THAT(refusal(address),
              testing::AllOf(HasSubstr("ACCESS_REFUSED"), Not(HasSubstr("wrong-one"))));
  EXPECT_THAT(refusal("amqp://127.0.0.1:1"), HasSubstr("amqp://127.0.0.1:1"));
}

TEST(RabbitmqBrokerAddress, ThatLeavesTheMachineInClearTextIsWarnedOf) {
  for (const auto* address : {"amqp://ada:s3cret@broker.example.org", "amqp://10.1.2.3/x"}) {
    auto warning = open_broker(address)->warning();
    EXPECT_THAT(warning, testing::HasSubstr("amqps://")) << address;
    EXPECT_THAT(warning, testing::Not(testing::HasSubstr("s3cret")));
  }
  for (const auto* address :
       {"amqps://broker.example.org", "amqp://localhost", "amqp://127.0.0.1", "amqp://[::1]"})
    EXPECT_EQ(open_broker(address)->warning(), "") << address;
}

}  // namespace
}  // namespace holdfast::test
