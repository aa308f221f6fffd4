#include <filesystem>

#include "transactions/results_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

/// Results whose instance, blobs or clients are away for longer than a producer may be silent.
class ResultsWaiting : public ResultsScenario {
 protected:
  static constexpr Millis impatience{1'000};

  results::Options impatient() const {
    auto options = this->options();
    options.abandon_after = impatience;
    return options;
  }
  std::filesystem::path folder() const { return store_.folder() / "blobs"; }
  /// A file stands where the folder was: whatever is written there fails.
  void take_blobs_away() const {
    std::filesystem::rename(folder(), folder().string() + ".away");
    std::FILE* file = std::fopen(folder().c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fclose(file);
  }
  void bring_blobs_back() const {
    std::filesystem::remove(folder());
    std::filesystem::rename(folder().string() + ".away", folder());
  }
  void produce(const std::string& id, int parts) const {
    for (int i = 1; i <= parts; ++i) broker_->publish(part_message(id, "A", i, "x"));
    broker_->publish(header_message(id, fmt::format(R"([{{"name":"A","count":{}}}])", parts)));
  }
  /// Three times as long as a producer may be silent, by the clock that it would be judged by.
  bool much_later(WallTime since) const {
    return eventually([&] { return std::chrono::system_clock::now() > since + 3 * impatience; });
  }
  std::int64_t round(const std::string& id) const {
    return boost::json::parse(inspector_.find(id)->data).at("round").as_int64();
  }
  boost::json::value notice_of(const std::string& queue) const {
    auto notices = take(queue, 1);
    return notices.empty() ? boost::json::value{} : boost::json::parse(notices[0]->body());
  }
};

TEST_F(ResultsWaiting, BlobsThatAreAwayForLongCostNoParts) {
  auto running = run(impatient());
  start("tx");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  take_blobs_away();
  produce("tx", 5);
  ASSERT_TRUE(eventually([&] { return !inspector_.find("tx")->error.empty(); }));
  ASSERT_TRUE(much_later(*inspector_.find("tx")->progressed_at));
  EXPECT_EQ(inspector_.find("tx")->state, "awaiting_results");
  EXPECT_THAT(inspector_.find("tx")->error, HasSubstr("blobs")) << "what it waits for";
  EXPECT_LT(progress("tx").silent, impatience) << "the clock stands still";
  bring_blobs_back();
  ASSERT_TRUE(completes("tx"));
  EXPECT_EQ(blobs_->list("tx/").size(), 5u);
  EXPECT_LE(messages_in(dead_letter_queue), 0);
}

TEST_F(ResultsWaiting, PartsThatCameWhileNoInstanceRanAreTaken) {
  {
    auto running = run(impatient());
    start("tx");
    ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  }
  produce("tx", 5);
  ASSERT_TRUE(much_later(*inspector_.find("tx")->progressed_at));
  auto running = run(impatient());
  EXPECT_TRUE(completes("tx"));
}

TEST_F(ResultsWaiting, SilenceThatWasCountedStaysCounted) {
  auto options = this->options();
  options.abandon_after = Millis{3'000};
  start("tx");
  Millis before{0};
  for (int instance = 0; instance < 3; ++instance) {
    auto running = run(options);
    ASSERT_TRUE(eventually([&] { return progress("tx").silent > before; }));
    before = progress("tx").silent;
  }
  EXPECT_GE(before, Millis{900});
  auto running = run(options);
  ASSERT_TRUE(fails("tx"));
  EXPECT_THAT(inspector_.find("tx")->task.error, HasSubstr("abandoned: nothing came for 3 s"));
}

TEST_F(ResultsWaiting, WhatIsLeftInTheQueuesOfAFailedOneIsADeadLetter) {
  auto options = this->options();
  options.timeout = Millis{5'000};
  options.notify_prefixes = {"team-"};
  auto running = run(options);
  start_transaction(engine_, results::machine_name, "tx", R"({"notifyQueue":"team-a"})");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  take_blobs_away();
  for (int i = 1; i <= 5; ++i) broker_->publish(part_message("tx", "A", i, "x"));
  ASSERT_TRUE(gets_to("tx", "cleaning"));
  EXPECT_TRUE(eventually([&] { return messages_in(dead_letter_queue) == 5; }))
      << messages_in(dead_letter_queue) << " " << inspector_.find("tx")->error;
  // Its client cannot be told, which is tried again and again.
  ASSERT_TRUE(eventually(
      [&] { return inspector_.find("tx")->error.find("'team-a'") != std::string::npos; }));
  ASSERT_TRUE(much_later(*inspector_.find("tx")->entered_at));
  EXPECT_EQ(inspector_.find("tx")->state, "cleaning");
  EXPECT_EQ(round("tx"), 1) << "it does not grow while cleaning fails";
  bring_blobs_back();
  broker_->declare("team-a");
  ASSERT_TRUE(fails("tx"));
  EXPECT_EQ(round("tx"), 1);
  EXPECT_THAT(reasons_of_dead_letters(5),
              AllOf(SizeIs(5), Each(HasSubstr("its result failed: the transaction took longer"))));
  EXPECT_EQ(messages_in("team-a"), 1) << "its client was told once";
}

TEST_F(ResultsWaiting, TheClientOfAFailedOneIsToldOnceAndWhy) {
  auto options = impatient();
  options.failure_queue = "failures";
  auto running = run(options);
  start("tx");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  broker_->publish(header_message("tx", R"([{"name":"A","count":3}])"));
  broker_->publish(part_message("tx", "A", 2, "x"));
  ASSERT_TRUE(fails("tx"));
  EXPECT_EQ(messages_in("notices"), 0);
  ASSERT_EQ(messages_in("failures"), 1);
  auto notice = notice_of("failures");
  EXPECT_EQ(notice.at("transactionId").as_string(), "tx");
  EXPECT_EQ(notice.at("status").as_string(), "failed");
  EXPECT_THAT(std::string{notice.at("reason").as_string()}, HasSubstr("nothing came for 1 s"));
  EXPECT_EQ(notice.at("round").as_int64(), 0);
  EXPECT_EQ(notice.at("series").at(0).at("received").as_int64(), 1);
  EXPECT_EQ(notice.at("series").at(0).at("missing").as_string(), "1, 3");
  ASSERT_TRUE(inspector_.retry("tx"));
  ASSERT_TRUE(eventually([&] { return messages_in("failures") == 1; }, std::chrono::seconds{40}));
  EXPECT_EQ(take("failures", 1).at(0)->id(), "tx-failed-r1");
  broker_->remove("failures");
}

TEST_F(ResultsWaiting, ARetriedOneAsksUnderAnIdOfItsOwn) {
  {
    auto running = run(impatient());
    start("tx");
    ASSERT_TRUE(fails("tx"));
  }
  EXPECT_EQ(take("requests", 1).at(0)->id(), "tx-request-0");
  auto running = run();
  ASSERT_TRUE(inspector_.retry("tx"));
  auto again = take("requests", 1);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0]->id(), "tx-request-0-r1");
  EXPECT_EQ(boost::json::parse(again[0]->body()).at("round").as_int64(), 1);
  produce("tx", 1);
  EXPECT_TRUE(completes("tx"));
}

TEST_F(ResultsWaiting, OneThatIsSentBackToAskKeepsItsPartsAndAsksUnderAnotherId) {
  start("tx");
  auto running = run();
  for (const std::string number : {"0", "1", "2"}) {
    ASSERT_TRUE(gets_to("tx", "awaiting_results"));
    EXPECT_EQ(take("requests", 1).at(0)->id(), "tx-request-" + number);
    if (number == "1") broker_->publish(part_message("tx", "A", 1, "x"));
    if (number == "1") {
      ASSERT_TRUE(eventually([&] { return !inspector_.ledger("tx").empty(); }));
    }
    if (number == "2") break;
    ASSERT_TRUE(inspector_.cancel("tx"));
    ASSERT_TRUE(
        eventually([&] { return inspector_.find("tx")->task.state == TaskState::cancelled; }));
    ASSERT_TRUE(inspector_.retry("tx", "request_forwarding"));
    ASSERT_TRUE(eventually([&] { return messages_in("requests") == 1; }));
  }
  broker_->publish(header_message("tx", R"([{"name":"A","count":1}])"));
  EXPECT_TRUE(completes("tx"));
}

/// Somebody else has it, or the queue is sick.
TEST_F(ResultsWaiting, AMessageThatIsNotDeliveredIsNoSilence) {
  auto other = broker_->consume({});
  start("tx");
  broker_->declare(results::payload_queue("tx"));
  broker_->publish(part_message("tx", "A", 1, "x"));
  other->listen(results::payload_queue("tx"));
  ASSERT_TRUE(eventually([&] { return !other->receive(Millis{100}).deliveries.empty(); }));
  auto running = run(impatient());
  ASSERT_TRUE(eventually(
      [&] { return inspector_.find("tx")->error.find("not delivered") != std::string::npos; }));
  ASSERT_TRUE(much_later(*inspector_.find("tx")->entered_at));
  EXPECT_EQ(inspector_.find("tx")->state, "awaiting_results");
  other.reset();
  ASSERT_TRUE(eventually([&] { return inspector_.ledger("tx").size() == 1; }));
  broker_->publish(header_message("tx", R"([{"name":"A","count":1}])"));
  EXPECT_TRUE(completes("tx"));
}

TEST_F(ResultsWaiting, ANoticeThatIsNotConfirmedKeepsAResultWhereItSendsIt) {
  auto options = this->options();
  options.notify_prefixes = {"team-"};
  auto running = run(options);
  start_transaction(engine_, results::machine_name, "tx", R"({"notifyQueue":"team-a"})");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  produce("tx", 2);
  ASSERT_TRUE(gets_to("tx", "sending_completion"));
  ASSERT_TRUE(eventually([&] { return !inspector_.find("tx")->error.empty(); }));
  EXPECT_EQ(inspector_.find("tx")->state, "sending_completion");
  // What comes meanwhile is looked at before the queues go.
  broker_->publish(part_message("tx", "A", 1, "x"));
  broker_->publish(header_message("tx", R"([{"name":"A","count":2}])"));
  broker_->publish(part_message("tx", "B", 1, "nobody announced it"));
  broker_->declare("team-a");
  ASSERT_TRUE(completes("tx"));
  EXPECT_EQ(messages_in("team-a"), 1);
  EXPECT_THAT(reasons_of_dead_letters(1), testing::ElementsAre(HasSubstr("'B' was not announced")));
  EXPECT_EQ(messages_in(dead_letter_queue), 0) << "the others were copies";
}

TEST_F(ResultsWaiting, ACancelledOneSaysSoAndKeepsCopiesOfWhatWaited) {
  start("tx");
  {
    auto running = run();
    ASSERT_TRUE(gets_to("tx", "awaiting_results"));
    ASSERT_TRUE(inspector_.cancel("tx"));
    ASSERT_TRUE(
        eventually([&] { return inspector_.find("tx")->task.state == TaskState::cancelled; }));
  }
  blobs_->put("tx/A/9.blob", "something to remove");
  produce("tx", 2);
  EXPECT_EQ(results::clean_up(engine_, *broker_, *blobs_).queues, 2);
  EXPECT_THAT(reasons_of_dead_letters(3), AllOf(SizeIs(3), Each("its transaction is cancelled")));
  EXPECT_THAT(inspector_.moves("tx").back().reason, HasSubstr("cancelled"));
  EXPECT_THAT(inspector_.find("tx")->reason, HasSubstr("cancelled"));
}

}  // namespace
}  // namespace holdfast::test
