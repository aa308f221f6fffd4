#include <gmock/gmock.h>

#include <boost/json.hpp>

#include <holdfast/results.hpp>
#include <holdfast/transactions.hpp>

#include "server/server_under_test.hpp"
#include "support/process.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

enum class Approval { waits, approved };
BOOST_DESCRIBE_ENUM(Approval, waits, approved)

/// Messages of a store and its dead letters, over HTTP.
class Messages : public testing::Test {
 protected:
  void reject(const std::string& id, const std::string& body, const std::string& why) {
    broker_->declare("mail");
    broker_->publish(Message{"mail", body, id});
    const auto consumer = broker_->consume({});
    consumer->listen("mail");
    auto news = consumer->receive(std::chrono::seconds{10});
    ASSERT_EQ(news.deliveries.size(), 1u);
    consumer->reject(news.deliveries[0], why);
  }
  boost::json::array letters() {
    return server_.get("/v1/dead-letters").json().at("dead_letters").as_array();
  }
  std::string changed(const std::string& target, const std::string& body) {
    const auto answer = server_.post(target, body);
    return answer.status == 200 ? serialize(answer.json().at("changed")) : answer.body;
  }
  std::int64_t waiting(const std::string& queue) { return broker_->messages(queue).value_or(-1); }

  ServerUnderTest server_;
  std::shared_ptr<Broker> broker_ = open_broker(server_.engine());
};

TEST_F(Messages, DeadLettersAreListedShownReplayedAndDiscarded) {
  EXPECT_TRUE(letters().empty());
  reject("m-1", "first", "no sense");
  reject("m-2", std::string{"\xff\x00\x01", 3}, "no text");
  ASSERT_EQ(letters().size(), 2u);
  const auto first = letters()[0].as_object();
  EXPECT_EQ(first.at("id"), "m-1");
  EXPECT_EQ(first.at("queue"), "mail");
  EXPECT_EQ(first.at("reason"), "no sense");
  EXPECT_EQ(first.at("bytes"), 5);
  const std::string name{first.at("letter").as_string()};
  const auto shown = server_.get("/v1/dead-letters/" + name).json();
  EXPECT_EQ(shown.at("body"), "first");
  EXPECT_TRUE(shown.at("base64").is_null());
  const std::string other{letters()[1].at("letter").as_string()};
  EXPECT_EQ(server_.get("/v1/dead-letters/" + other).json().at("base64"), "/wAB");
  EXPECT_EQ(changed("/v1/dead-letters/replay", R"({"letters":[")" + name + R"("]})"), "1");
  EXPECT_EQ(waiting("mail"), 1);
  EXPECT_EQ(server_.get("/v1/dead-letters/" + name).status, 404);
  EXPECT_EQ(changed("/v1/dead-letters/discard", R"({"all":true})"), "1");
  EXPECT_TRUE(letters().empty());
  EXPECT_EQ(server_.post("/v1/dead-letters/discard", "{}").status, 400);
}

TEST_F(Messages, ViewersSeeThatThereAreDeadLettersAndNothingElse) {
  reject("m-1", "first", "no sense");
  const std::string name{letters()[0].at("letter").as_string()};
  const auto viewer = server_.new_token({.scopes = {server::Scope::viewer}});
  const Headers as_viewer{{"Authorization", "Bearer " + viewer}};
  EXPECT_EQ(server_.bare("GET", "/v1/dead-letters", {}, as_viewer).status, 200);
  EXPECT_EQ(server_.bare("GET", "/v1/dead-letters/" + name, {}, as_viewer).status, 403);
  for (const auto* target :
       {"/v1/dead-letters/replay", "/v1/dead-letters/discard", "/v1/messages/send",
        "/v1/messages/receive", "/v1/messages/acknowledge", "/v1/messages/return",
        "/v1/results/tx/header", "/v1/results/tx/parts", "/v1/transactions/tx/signal"})
    EXPECT_EQ(server_.bare("POST", target, "{}", as_viewer).status, 403) << target;
}

TEST_F(Messages, AreSentReceivedAndStayUntilTheyAreAcknowledged) {
  EXPECT_EQ(server_.post("/v1/messages/send", R"({"queue":"mail","body":"x"})").status, 404);
  broker_->declare("mail");
  EXPECT_EQ(server_.post("/v1/messages/send", R"({"queue":"mail","id":"m-1","body":"x"})").status,
            200);
  EXPECT_EQ(server_.post("/v1/messages/send", R"({"queue":"mail","base64":"/wAB"})").status, 200);
  auto receive = [&] {
    return server_.post("/v1/messages/receive", R"({"queue":"mail","count":10})")
        .json()
        .at("messages")
        .as_array();
  };
  auto messages = receive();
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].at("id"), "m-1");
  EXPECT_EQ(messages[0].at("body"), "x");
  EXPECT_EQ(messages[1].at("base64"), "/wAB");
  auto receipt = [&](std::size_t which) {
    return R"({"receipts":[)" + serialize(messages[which].at("receipt")) + "]}";
  };
  EXPECT_TRUE(receive().empty()) << "they are in the hands of a caller";
  EXPECT_EQ(changed("/v1/messages/acknowledge", receipt(0)), "1");
  EXPECT_EQ(changed("/v1/messages/acknowledge", receipt(0)), "0") << "it was before";
  EXPECT_EQ(changed("/v1/messages/return", receipt(1)), "1");
  messages = receive();
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].at("base64"), "/wAB");
}

TEST_F(Messages, AProducerOfResultsNeedsNothingElse) {
  results::Options options{.broker = broker_,
                           .blobs = open_blobs("dir:" + server_.folder() + "/parts"),
                           .request_queue = "requests",
                           .notify_queue = "notices"};
  start_transaction(server_.engine(), results::machine_name, "tx", "{}");
  TransactionRunner runner{server_.engine(), results::machine(options), {.broker = broker_}};
  std::jthread thread{[&] { runner.run(); }};
  EXPECT_TRUE(eventually([&] { return waiting(results::payload_queue("tx")) == 0; }));
  EXPECT_EQ(
      server_.post("/v1/results/tx/parts", R"({"series":"Files","ordinal":1,"body":"part one"})")
          .status,
      200);
  EXPECT_EQ(
      server_.post("/v1/results/tx/header", R"({"series":[{"name":"Files","count":1}]})").status,
      200);
  const TransactionInspector inspector{server_.engine()};
  EXPECT_TRUE(eventually([&] { return inspector.find("tx")->task.state == TaskState::completed; }));
  runner.drain();
}

TEST_F(Messages, SignalsGoToTransactionsThatTakeThem) {
  Transactions<Approval> approvals{server_.engine(), "approvals"};
  approvals.on(Approval::waits, [](Transaction&) { return listen(); })
      .on_signal(Approval::waits, "approve",
                 [](Transaction& transaction, const Signal& signal) {
                   transaction.keep(signal.value<std::string>());
                   return go(Approval::approved);
                 })
      .completes(Approval::approved);
  approvals.start("tx", 1);
  EXPECT_EQ(server_.post("/v1/transactions/other/signal", R"({"name":"approve"})").status, 404);
  EXPECT_THAT(server_.post("/v1/transactions/tx/signal", R"({"name":"approve"})").body,
              HasSubstr("has not begun"));
  TransactionRunner runner{server_.engine(), approvals.machine(), {.broker = broker_}};
  std::jthread thread{[&] { runner.run(); }};
  const TransactionInspector inspector{server_.engine()};
  EXPECT_TRUE(eventually([&] { return !inspector.find("tx")->state.empty(); }));
  EXPECT_THAT(server_.post("/v1/transactions/tx/signal", R"({"name":"refuse"})").body,
              HasSubstr("takes no signal 'refuse'"));
  EXPECT_EQ(changed("/v1/transactions/tx/signal", R"({"name":"approve","value":"by me"})"), "1");
  EXPECT_TRUE(eventually([&] { return inspector.find("tx")->task.state == TaskState::completed; }));
  EXPECT_EQ(inspector.find("tx")->data, "\"by me\"");
  EXPECT_EQ(waiting(signal_queue("tx", "approve")), -1) << "its queues are gone";
  EXPECT_THAT(server_.post("/v1/transactions/tx/signal", R"({"name":"approve"})").body,
              HasSubstr("takes no signals"));
  runner.drain();
}

}  // namespace
}  // namespace holdfast::test
