#include "transactions/results_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST_F(ResultsScenario, PartsBecomeBlobsAndANoticeNamesThemInOrder) {
  auto running = run();
  start("tx-1");
  auto requests = take("requests", 1);
  ASSERT_EQ(requests.size(), 1u);
  auto request = boost::json::parse(requests[0]->body());
  EXPECT_EQ(request.at("transactionId").as_string(), "tx-1");
  EXPECT_EQ(request.at("headerQueueName").as_string(), "transaction-tx-1-header");
  EXPECT_EQ(request.at("payloadQueueName").as_string(), "transaction-tx-1-payload");
  EXPECT_EQ(boost::json::serialize(request.at("request")), R"({"rule":7})");
  EXPECT_FALSE(request.at("resend").as_bool());
  EXPECT_EQ(requests[0]->id(), "tx-1-request-0");

  std::string large(300'000, 'z');
  broker_->publish(part_message("tx-1", "Files", 2, "two"));
  broker_->publish(header_message(
      "tx-1",
      R"([{"name":"Files","count":2},{"name":"a:b","count":1},{"name":"None","count":0}])"));
  broker_->publish(part_message("tx-1", "a:b", 1, large));
  broker_->publish(part_message("tx-1", "Files", 1, std::string("\0\n", 2)));
  ASSERT_TRUE(completes("tx-1"));

  EXPECT_EQ(blobs_->get("tx-1/Files/1.blob"), std::string("\0\n", 2));
  EXPECT_EQ(blobs_->get("tx-1/Files/2.blob"), "two");
  EXPECT_EQ(blobs_->get("tx-1/a_3ab/1.blob"), large);
  EXPECT_EQ(blobs_->list("tx-1/").size(), 3u);
  EXPECT_EQ(inspector_.ledger("tx-1").size(), 3u);
  auto notices = take("notices", 1);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0]->id(), "tx-1");
  auto notice = boost::json::parse(notices[0]->body());
  EXPECT_EQ(notice.at("totalBlobCount").as_int64(), 3);
  EXPECT_EQ(notice.at("totalDataSize").as_int64(), 300'005);
  auto& series = notice.at("seriesCollection").as_array();
  ASSERT_EQ(series.size(), 3u);
  EXPECT_EQ(series[0].at("seriesType").as_string(), "Files");
  EXPECT_EQ(series[0].at("blobReferences").at(0).at("ordinal").as_int64(), 1);
  EXPECT_EQ(series[0].at("blobReferences").at(1).at("blobKey").as_string(), "tx-1/Files/2.blob");
  EXPECT_FALSE(broker_->exists(results::header_queue("tx-1")));
  EXPECT_FALSE(broker_->exists(results::payload_queue("tx-1")));
  EXPECT_LE(messages_in(dead_letter_queue), 0) << "nothing was wrong";
}

TEST_F(ResultsScenario, AMissingTailOrAWholeMissingSeriesIsNotComplete) {
  auto running = run();
  start("tx");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  broker_->publish(header_message("tx", R"([{"name":"A","count":45},{"name":"B","count":1}])"));
  for (int i = 1; i <= 45; ++i)
    if (i != 17 && (i < 42 || i > 44)) broker_->publish(part_message("tx", "A", i, "x"));
  ASSERT_TRUE(eventually([&] {
    auto now = progress("tx");
    return now.announced && now.series.at(0).received == 41;
  }));
  auto now = progress("tx");
  EXPECT_EQ(results::gaps_text(now.series[0].missing), "17, 42-44");
  EXPECT_EQ(now.series[1].series, "B");
  EXPECT_EQ(results::gaps_text(now.series[1].missing), "1");
  EXPECT_FALSE(now.complete());
  EXPECT_EQ(inspector_.find("tx")->state, "awaiting_results");
  for (int i : {17, 42, 43, 44}) broker_->publish(part_message("tx", "A", i, "x"));
  ASSERT_TRUE(eventually([&] { return progress("tx").series.at(0).received == 45; }));
  EXPECT_EQ(inspector_.find("tx")->state, "awaiting_results") << "B is missing as a whole";
  broker_->publish(part_message("tx", "B", 1, "x"));
  EXPECT_TRUE(completes("tx"));
  EXPECT_TRUE(progress("tx").complete());
}

TEST_F(ResultsScenario, WhatMakesNoSenseIsADeadLetterAndTheRestGoesOn) {
  auto running = run();
  start("tx");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  auto payload = results::payload_queue("tx");
  broker_->publish(header_message("tx", R"([{"name":"A","count":2}])"));
  ASSERT_TRUE(eventually([&] { return progress("tx").announced; }));
  std::vector<Message> bad{
      {payload, "no JSON"},
      {payload, "[1]"},
      {payload, R"({"transactionId":"tx","type":"letter"})"},
      part_message("other", "A", 1, "x"),
      part_message("tx", "A", 0, "x"),
      part_message("tx", "A", 3, "x"),
      part_message("tx", "C", 1, "x"),
      part_message("tx", "A", 1, "x", R"(,"totalCount":9)"),
      part_message("tx", "A", 1, "x", R"(,"sha256":"00")"),
      part_message("tx", "A", 4, "x", R"(,"totalCount":3)"),
      {payload, R"({"type":"payload","transactionId":"tx","series":"A","ordinal":2})"},
      header_message("tx", R"([{"name":"A","count":3}])"),
      header_message("tx", R"([{"name":"A","count":2},{"name":"A","count":2}])"),
      header_message("tx", R"([])"),
  };
  bad[3].queue = payload;
  broker_->publish(bad);
  broker_->publish(header_message("tx", R"([{"name":"A","count":2}])"));  // the same again is fine
  broker_->publish(part_message("tx", "A", 1, "x"));
  broker_->publish(part_message("tx", "A", 1, "x"));  // and so is this
  broker_->publish(part_message("tx", "A", 1, "another"));
  EXPECT_TRUE(eventually([&] { return messages_in(dead_letter_queue) == 15; }))
      << messages_in(dead_letter_queue);
  EXPECT_THAT(reasons_of_dead_letters(15),
              UnorderedElementsAre(
                  HasSubstr("not JSON"), HasSubstr("not a JSON object"), HasSubstr("'letter'"),
                  HasSubstr("for transaction 'other'"), HasSubstr("ordinal"),
                  HasSubstr("exceeds the 2"), HasSubstr("'C' was not announced"),
                  HasSubstr("has 9 parts"), HasSubstr("SHA-256"), HasSubstr("contradicts"),
                  HasSubstr("announced twice"), HasSubstr("empty"), HasSubstr("part 4 of 3"),
                  HasSubstr("a newline"), HasSubstr("not the same as the one that came first")));
  broker_->publish(part_message("tx", "A", 2, "y"));
  EXPECT_TRUE(completes("tx"));
  EXPECT_EQ(blobs_->get("tx/A/1.blob"), "x");
}

TEST_F(ResultsScenario, PartsThatTheHeaderDoesNotKnowAreLeftOut) {
  auto running = run();
  start("tx");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  for (int i = 1; i <= 3; ++i) broker_->publish(part_message("tx", "A", i, "x"));
  broker_->publish(part_message("tx", "B", 1, "x"));
  ASSERT_TRUE(eventually([&] { return inspector_.ledger("tx").size() == 4; }));
  broker_->publish(header_message("tx", R"([{"name":"A","count":2}])"));
  ASSERT_TRUE(completes("tx"));
  EXPECT_EQ(progress("tx").series.at(0).surplus, 1);
  auto notice = boost::json::parse(take("notices", 1).at(0)->body());
  EXPECT_EQ(notice.at("totalBlobCount").as_int64(), 2);
  EXPECT_EQ(blobs_->list("tx/").size(), 2u);
}

TEST_F(ResultsScenario, AnUploadWhoseRecordWasLostIsFoundAgainAndNotDoubled) {
  blobs_->put("tx/A/1.blob", "same");
  blobs_->put("tx/A/2.blob", "left by somebody else");
  auto running = run();
  start("tx");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  broker_->publish(header_message("tx", R"([{"name":"A","count":2}])"));
  broker_->publish(part_message("tx", "A", 1, "same"));
  broker_->publish(part_message("tx", "A", 2, "ours"));
  ASSERT_TRUE(completes("tx"));
  EXPECT_EQ(blobs_->list("tx/").size(), 2u) << "what nobody recorded is gone";
  auto notice = boost::json::parse(take("notices", 1).at(0)->body());
  auto& parts = notice.at("seriesCollection").at(0).at("blobReferences").as_array();
  EXPECT_EQ(parts[0].at("blobKey").as_string(), "tx/A/1.blob");
  EXPECT_EQ(blobs_->get(std::string{parts[1].at("blobKey").as_string()}), "ours");
}

TEST_F(ResultsScenario, AQueueThatIsGoneIsAskedForAgain) {
  auto running = run();
  start("tx");
  take("requests", 1);
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  broker_->publish(header_message("tx", R"([{"name":"A","count":3}])"));
  broker_->publish(part_message("tx", "A", 2, "x"));
  ASSERT_TRUE(eventually([&] { return inspector_.ledger("tx").size() == 1; }));
  ASSERT_TRUE(eventually([&] { return progress("tx").announced; }));
  broker_->remove(results::payload_queue("tx"));
  auto requests = take("requests", 1);
  ASSERT_EQ(requests.size(), 1u);
  auto request = boost::json::parse(requests[0]->body());
  EXPECT_TRUE(request.at("resend").as_bool());
  EXPECT_EQ(request.at("series").at(0).at("missing").as_string(), "1, 3");
  EXPECT_EQ(requests[0]->id(), "tx-request-1");
  for (int i = 1; i <= 3; ++i) broker_->publish(part_message("tx", "A", i, "x"));
  EXPECT_TRUE(completes("tx"));
  std::vector<std::string> states;
  for (const auto& move : inspector_.moves("tx")) states.push_back(move.to);
  EXPECT_THAT(states, ElementsAre("awaiting_results", "needs_resend", "awaiting_results",
                                  "sending_completion", "cleaning", "completed"));
}

TEST_F(ResultsScenario, AnAbandonedOneFailsAndLeavesNothing) {
  auto impatient = options();
  impatient.abandon_after = Millis{300};
  auto running = run(impatient);
  start("tx");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  broker_->publish(part_message("tx", "A", 1, "x"));
  ASSERT_TRUE(fails("tx"));
  EXPECT_THAT(inspector_.find("tx")->task.error, HasSubstr("abandoned"));
  EXPECT_THAT(inspector_.ledger("tx"), IsEmpty());
  EXPECT_THAT(blobs_->list("tx/"), IsEmpty());
  EXPECT_FALSE(broker_->exists(results::payload_queue("tx")));
  running.reset();
  auto patient = run();
  ASSERT_TRUE(inspector_.retry("tx"));
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  broker_->publish(header_message("tx", R"([{"name":"A","count":1}])"));
  broker_->publish(part_message("tx", "A", 1, "x"));
  EXPECT_TRUE(completes("tx"));
}

TEST_F(ResultsScenario, ANoticeWhoseQueueIsMissingDoesNotKeepAResultForEver) {
  auto impatient = options();
  impatient.abandon_after = Millis{1'500};
  impatient.notify_prefixes = {"team-"};
  auto running = run(impatient);
  start_transaction(engine_, results::machine_name, "tx", R"({"notifyQueue":"team-a"})");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  broker_->publish(header_message("tx", R"([{"name":"A","count":1}])"));
  broker_->publish(part_message("tx", "A", 1, "x"));
  ASSERT_TRUE(fails("tx"));
  EXPECT_THAT(inspector_.find("tx")->task.error,
              AllOf(HasSubstr("messages that could not be sent: 1"), HasSubstr("'team-a'")));
}

TEST_F(ResultsScenario, AQueueOfItsOwnThatIsGoneIsDeclaredAgain) {
  auto running = run();
  start("tx");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  broker_->remove("notices");
  broker_->publish(header_message("tx", R"([{"name":"A","count":1}])"));
  broker_->publish(part_message("tx", "A", 1, "x"));
  EXPECT_TRUE(completes("tx"));
  EXPECT_EQ(take("notices", 1).size(), 1u);
}

TEST_F(ResultsScenario, ACancelledOneIsCleanedUp) {
  auto running = run();
  start("tx");
  start("alive");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  ASSERT_TRUE(gets_to("alive", "awaiting_results"));
  broker_->publish(part_message("tx", "A", 1, "x"));
  broker_->publish(part_message("alive", "A", 1, "x"));
  ASSERT_TRUE(eventually([&] { return blobs_->list().size() == 2; }));
  blobs_->put("stranger/A/1.blob", "not ours");
  ASSERT_TRUE(inspector_.cancel("tx"));
  ASSERT_TRUE(
      eventually([&] { return inspector_.find("tx")->task.state == TaskState::cancelled; }));
  auto done = results::clean_up(engine_, *broker_, *blobs_);
  EXPECT_EQ(done.queues, 2);
  EXPECT_EQ(done.blobs, 1);
  EXPECT_TRUE(broker_->exists(results::payload_queue("alive")));
  EXPECT_EQ(blobs_->list().size(), 2u);
}

TEST_F(ResultsScenario, ARetriedOneThatWasCleanedUpStartsOverAndKeepsItsNewParts) {
  auto running = run();
  start("tx");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  broker_->publish(header_message("tx", R"([{"name":"A","count":2}])"));
  broker_->publish(part_message("tx", "A", 1, "x"));
  ASSERT_TRUE(eventually([&] { return progress("tx").announced && blobs_->list().size() == 1; }));
  ASSERT_TRUE(inspector_.cancel("tx"));
  ASSERT_TRUE(
      eventually([&] { return inspector_.find("tx")->task.state == TaskState::cancelled; }));
  EXPECT_EQ(results::clean_up(engine_, *broker_, *blobs_).blobs, 1);
  EXPECT_EQ(inspector_.find("tx")->task.state, TaskState::cancelled);
  EXPECT_THAT(inspector_.ledger("tx"), IsEmpty());
  EXPECT_EQ(results::clean_up(engine_, *broker_, *blobs_).blobs, 0) << "once is enough";
  ASSERT_TRUE(inspector_.retry("tx"));
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  EXPECT_FALSE(progress("tx").announced);
  broker_->publish(part_message("tx", "A", 1, "y"));
  ASSERT_TRUE(eventually([&] { return inspector_.ledger("tx").size() == 1; }));
  // Whoever was stopped in the middle of removing what there was does not find it.
  EXPECT_FALSE(blobs_->remove("tx/A/1.blob"));
  broker_->publish(header_message("tx", R"([{"name":"A","count":1}])"));
  ASSERT_TRUE(completes("tx"));
  EXPECT_EQ(blobs_->get("tx/A/1-r1.blob"), "y");
}

TEST_F(ResultsScenario, ClientsMayAskOverAQueue) {
  broker_->declare("wishes");
  broker_->publish(Message{"wishes", R"({"transactionId":"tx","request":{"n":1}})"});
  broker_->publish(Message{"wishes", R"({"transactionId":"tx","request":{"n":1}})"});
  broker_->publish(Message{"wishes", R"({"transactionId":"tx","request":{"n":2}})"});
  broker_->publish(Message{"wishes", R"({"request":{"n":2}})"});
  auto with_intake = options();
  with_intake.intake_queue = "wishes";
  results::Intake intake{engine_, with_intake};
  EXPECT_TRUE(eventually([&] { return messages_in(dead_letter_queue) == 2; }));
  EXPECT_TRUE(eventually([&] { return messages_in("wishes") == 0; }));
  EXPECT_EQ(inspector_.list({.machine = "results"}).size(), 1u);
  EXPECT_EQ(inspector_.find("tx")->input, R"({"n":1})");
}

/// Queues that a notice must never reach, whatever the prefixes of the options cover.
std::vector<std::string> forbidden_queues() {
  return {"accounts",
          "team",
          "requests",
          "wishes",
          "transaction-b-header",
          "transaction-a-payload",
          "holdfast-dead-letters",
          "holdfast.http.forget",
          "amq.direct",
          "Notices",
          "notices ",
          "xteam-a",
          " team-a"};
}

std::string wish(const std::string& id, const std::string& queue) {
  return boost::json::serialize(
      boost::json::value{{"transactionId", id}, {"request", {{"notifyQueue", queue}}}});
}

TEST_F(ResultsScenario, ClientsNameOnlyQueuesForNoticesThatTheyMayName) {
  auto with_queues = options();
  with_queues.notify_queues = {"reports"};
  with_queues.notify_prefixes = {"team-", "w", "r", "hold", "trans", "am"};
  with_queues.intake_queue = "wishes";
  auto running = run(with_queues);
  for (const auto* queue : {"team-a", "accounts"}) broker_->declare(queue);
  const auto forbidden = forbidden_queues();
  broker_->declare("wishes");
  for (std::size_t i = 0; i < forbidden.size(); ++i)
    broker_->publish(Message{"wishes", wish(fmt::format("bad-{}", i), forbidden[i])});
  broker_->publish(Message{"wishes", R"({"transactionId":"odd","request":{"notifyQueue":7}})"});
  for (const auto* queue : {"notices", "reports", "team-a"})
    broker_->publish(Message{"wishes", wish(queue, queue)});
  results::Intake intake{engine_, with_queues};
  ASSERT_TRUE(
      eventually([&] { return messages_in(dead_letter_queue) == std::ssize(forbidden) + 1; }));
  const auto reasons = reasons_of_dead_letters(forbidden.size() + 1);
  EXPECT_EQ(reasons.size(), forbidden.size() + 1);
  for (const auto& reason : reasons) EXPECT_THAT(reason, HasSubstr("notifyQueue")) << reason;
  for (const std::string queue : {"notices", "reports", "team-a"}) {
    ASSERT_TRUE(eventually([&] { return inspector_.find(queue).has_value(); }));
    ASSERT_TRUE(gets_to(queue, "awaiting_results"));
    broker_->publish(header_message(queue, R"([{"name":"A","count":0}])"));
    EXPECT_TRUE(completes(queue));
    EXPECT_EQ(messages_in(queue), 1) << queue;
  }
  EXPECT_EQ(messages_in("accounts"), 0);
  for (const auto* queue : {"team-a", "accounts", "reports"}) broker_->remove(queue);
}

TEST_F(ResultsScenario, OneThatNamesAQueueThatItMayNotNameFailsBeforeTheProducerIsTold) {
  broker_->declare("accounts");
  start_transaction(engine_, results::machine_name, "tx", R"({"notifyQueue":"accounts"})");
  auto running = run();
  ASSERT_TRUE(fails("tx"));
  EXPECT_THAT(inspector_.find("tx")->task.error, HasSubstr("'accounts' is not allowed"));
  EXPECT_EQ(messages_in("requests"), 0);
  EXPECT_EQ(messages_in("accounts"), 0);
  EXPECT_FALSE(broker_->exists(results::header_queue("tx")));
  broker_->remove("accounts");
}

/// Begun where it was allowed, by an instance with other options or of an earlier version.
TEST_F(ResultsScenario, AResultWhoseQueueIsNotAllowedAnyMoreTellsTheUsualOne) {
  broker_->declare("accounts");
  start_transaction(engine_, results::machine_name, "tx", R"({"notifyQueue":"accounts"})");
  {
    auto earlier = options();
    earlier.notify_queues = {"accounts"};
    auto running = run(earlier);
    ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  }
  auto running = run();
  broker_->publish(header_message("tx", R"([{"name":"A","count":0}])"));
  ASSERT_TRUE(completes("tx"));
  EXPECT_EQ(messages_in("accounts"), 0);
  EXPECT_EQ(messages_in("notices"), 1);
  broker_->remove("accounts");
}

TEST_F(ResultsScenario, TwoInstancesShareTheWorkAndNeverOneTransaction) {
  auto one = run(), other = run();
  constexpr int count = 20;
  for (int i = 0; i < count; ++i) start(fmt::format("tx-{}", i));
  for (int i = 0; i < count; ++i) {
    auto id = fmt::format("tx-{}", i);
    ASSERT_TRUE(gets_to(id, "awaiting_results"));
    for (int part = 1; part <= 5; ++part) broker_->publish(part_message(id, "A", part, "x"));
    broker_->publish(header_message(id, R"([{"name":"A","count":5}])"));
  }
  for (int i = 0; i < count; ++i) ASSERT_TRUE(completes(fmt::format("tx-{}", i)));
  EXPECT_EQ(messages_in("notices"), count);
  EXPECT_EQ(Inspector{engine_}.stale_writes_refused(), 0);
}

}  // namespace
}  // namespace holdfast::test
