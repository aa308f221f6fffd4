#include "support/oracle.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include <fmt/format.h>

#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A forged run: one order that was enqueued, run and completed, and its receipt. Each test spoils
/// one thing, and the oracle must see exactly that.
class Oracle : public testing::Test {
 protected:
  Oracle() {
    order.id = TaskId::make();
    order.kind = "order";
    order.state = TaskState::completed;
    order.token = Token{10};
    order.attempt = 1;
    order.result = R"({"token":10})";
    receipt = order;
    receipt.id = TaskId::make();
    receipt.kind = "receipt";
    receipt.payload = fmt::format(R"({{"order":"{}"}})", order.id.text());
    receipt.result.clear();
    say(Said::enqueueing);
    say(Said::enqueued);
    run_as(Token{10});
    say(Said::settled, Token{10}, "completed");
  }

  void say(Said said, Token token = {}, std::string text = {}) {
    now += std::chrono::microseconds{1};
    journal.push_back({now, said, order.id, token, std::move(text)});
  }

  void run_as(Token token) {
    say(Said::started, token);
    say(Said::recording, token);
    say(Said::recorded, token, "charge-1");
    say(Said::follow_up, token, receipt.id.text());
    say(Said::returned, token, "done");
  }

  void take_back(bool reported) {
    Transition step{.from = TaskState::running,
                    .to = TaskState::pending,
                    .actor = "system/recovery",
                    .reason = "its worker died"};
    history.push_back(step);
    if (!reported) return;
    RecoveryReport report;
    report.tasks.push_back({.id = order.id, .reason = {}, .error = {}});
    reports.push_back(report);
  }

  std::vector<Defect> defects() {
    StoreView store{{order}, {{order.id, history}}, reports, reports_were_shed, refused};
    for (const auto& each : receipts) store.tasks.push_back(each);
    store.queues.push_back({.queue = order.queue});
    for (const auto& task : store.tasks)
      ++store.queues[0].counts[static_cast<std::size_t>(task.state)];
    store.queues[0].counts[0] += miscounted;
    std::vector<Defect> kinds;
    for (const auto& finding : find_defects(journal, store, expectations))
      kinds.push_back(finding.defect);
    return kinds;
  }

  TaskRecord order, receipt;
  std::vector<TaskRecord> receipts{};
  std::vector<Transition> history;
  std::vector<RecoveryReport> reports;
  bool reports_were_shed = false;
  std::int64_t refused = 0;
  std::int64_t miscounted = 0;
  std::vector<JournalLine> journal;
  Expectations expectations;
  std::chrono::microseconds now{0};
};

TEST_F(Oracle, FindsNothingInAGoodRun) {
  receipts = {receipt};
  EXPECT_THAT(defects(), IsEmpty());
}

TEST_F(Oracle, SeesATaskThatIsCountedAndNotThere) {
  receipts = {receipt};
  miscounted = 1;
  EXPECT_THAT(defects(), ElementsAre(Defect::miscounted));
}

TEST_F(Oracle, SeesALostTask) {
  receipts = {receipt};
  journal.push_back({now, Said::enqueued, TaskId::make(), {}, {}});
  EXPECT_THAT(defects(), ElementsAre(Defect::lost));
}

TEST_F(Oracle, KnowsThatAnUnacknowledgedTaskMayBeAbsent) {
  receipts = {receipt};
  journal.push_back({now, Said::enqueueing, TaskId::make(), {}, {}});
  EXPECT_THAT(defects(), IsEmpty());
}

TEST_F(Oracle, SeesAPrunedTaskThatNeverFinished) {
  receipts = {receipt};
  expectations.may_be_pruned = true;
  journal.push_back({now, Said::enqueued, TaskId::make(), {}, {}});
  EXPECT_THAT(defects(), ElementsAre(Defect::lost));
}

TEST_F(Oracle, SeesAStuckTask) {
  for (auto state : {TaskState::pending, TaskState::running, TaskState::blocked, TaskState::held}) {
    order.state = state;
    EXPECT_THAT(defects(), ElementsAre(Defect::stuck));
  }
  expectations.held = {order.id};
  EXPECT_THAT(defects(), IsEmpty());
}

TEST_F(Oracle, SeesATaskThatNobodyAskedFor) {
  auto stranger = receipt;
  stranger.id = TaskId::make();
  stranger.payload = fmt::format(R"({{"order":"{}"}})", TaskId::make().text());
  receipts = {receipt, stranger};
  EXPECT_THAT(defects(), ElementsAre(Defect::unexpected));
}

TEST_F(Oracle, SeesTwoEnds) {
  receipts = {receipt};
  say(Said::settled, Token{10}, "completed");
  EXPECT_THAT(defects(), ElementsAre(Defect::settled_twice));
}

TEST_F(Oracle, SeesAStaleEndThatWasAccepted) {
  receipts = {receipt};
  order.token = Token{11};
  order.result = R"({"token":11})";
  run_as(Token{11});
  EXPECT_THAT(defects(), ElementsAre(Defect::stale_accepted));
}

TEST_F(Oracle, SeesAStaleResultThatNobodyLivedToTell) {
  receipts = {receipt};
  order.token = Token{12};
  EXPECT_THAT(defects(), ElementsAre(Defect::stale_accepted));
}

TEST_F(Oracle, SeesAStaleEffectThatWasAccepted) {
  receipts = {receipt};
  order.token = Token{11};
  order.result = R"({"token":11})";
  journal.pop_back();
  say(Said::started, Token{11});
  say(Said::recording, Token{10});
  say(Said::recorded, Token{10}, "charge-1");
  EXPECT_THAT(defects(), ElementsAre(Defect::stale_accepted));
}

TEST_F(Oracle, KnowsThatARetriedAttemptWasNotStale) {
  receipts = {receipt};
  journal.back().text = "pending";
  order.token = Token{11};
  order.result = R"({"token":11})";
  run_as(Token{11});
  say(Said::settled, Token{11}, "completed");
  EXPECT_THAT(defects(), IsEmpty());
}

TEST_F(Oracle, SeesADeadLetterThatNoHandlerFailed) {
  order.state = TaskState::failed;
  EXPECT_THAT(defects(), ElementsAre(Defect::false_dead_letter));
  say(Said::returned, Token{10}, "failed");
  EXPECT_THAT(defects(), IsEmpty());
}

TEST_F(Oracle, SeesAMissingFollowUp) {
  EXPECT_THAT(defects(), ElementsAre(Defect::follow_up_missing));
}

TEST_F(Oracle, SeesADoubledFollowUp) {
  auto second = receipt;
  second.id = TaskId::make();
  say(Said::follow_up, Token{10}, second.id.text());
  receipts = {receipt, second};
  EXPECT_THAT(defects(), ElementsAre(Defect::follow_up_doubled));
}

TEST_F(Oracle, SeesAFollowUpWithoutACompletion) {
  receipts = {receipt};
  order.state = TaskState::cancelled;
  EXPECT_THAT(defects(), ElementsAre(Defect::follow_up_doubled));
}

TEST_F(Oracle, SeesTooManyAttempts) {
  receipts = {receipt};
  order.attempt = 4;
  EXPECT_THAT(defects(), ElementsAre(Defect::over_limit));
}

TEST_F(Oracle, SeesAClaimThatRanTwice) {
  receipts = {receipt};
  say(Said::started, Token{10});
  EXPECT_THAT(defects(), ElementsAre(Defect::claimed_twice));
}

TEST_F(Oracle, SeesTwoValuesOfOneEffect) {
  receipts = {receipt};
  say(Said::recorded, Token{10}, "charge-2");
  EXPECT_THAT(defects(), ElementsAre(Defect::effect_doubled));
}

TEST_F(Oracle, SeesATokenThatWentBack) {
  receipts = {receipt};
  order.token = Token{9};
  order.result = R"({"token":9})";
  EXPECT_THAT(defects(), ElementsAre(Defect::token_repeated));
}

TEST_F(Oracle, SeesReportsThatSayTooMuchOrTooLittle) {
  receipts = {receipt};
  take_back(true);
  EXPECT_THAT(defects(), IsEmpty());
  take_back(false);
  EXPECT_THAT(defects(), ElementsAre(Defect::report_mismatch));
  reports_were_shed = true;
  EXPECT_THAT(defects(), IsEmpty());
  history.clear();
  EXPECT_THAT(defects(), ElementsAre(Defect::report_mismatch));
}

TEST_F(Oracle, SeesARefusalThatWasNotCounted) {
  receipts = {receipt};
  say(Said::refused, Token{9});
  EXPECT_THAT(defects(), ElementsAre(Defect::refusal_uncounted));
  refused = 1;
  EXPECT_THAT(defects(), IsEmpty());
}

TEST(Journal, ReadsBackWhatManyProcessesSaidInTheOrderOfTime) {
  TempStore store;
  auto task = TaskId::make();
  Journal first{store.journals()}, second{store.journals()};
  first.say(Said::enqueueing, task);
  second.say(Said::started, task, Token{7});
  first.say(Said::settled, task, Token{7}, "completed");
  auto lines = read_journals(store.journals());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].said, Said::enqueueing);
  EXPECT_EQ(lines[1].token, Token{7});
  EXPECT_EQ(lines[2].text, "completed");
  EXPECT_EQ(lines[2].task, task);
}

TEST(Journal, ForgetsALineThatAKillTore) {
  TempStore store;
  auto task = TaskId::make();
  std::ofstream{store.journals() + "/torn"} << "5 started " << task.text() << " 7 \n6 sett";
  auto lines = read_journals(store.journals());
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].said, Said::started);
}

}  // namespace
}  // namespace holdfast::test
