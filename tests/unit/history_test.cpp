#include "tasks/history.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tasks/transitions.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

const WorkerId first_worker = WorkerId::make();
const WorkerId second_worker = WorkerId::make();

WallTime at(int second) { return WallTime{std::chrono::seconds{1'700'000'000 + second}}; }

TaskRecord task(TaskState state) {
  TaskRecord record;
  record.id = TaskId::make();
  record.state = state;
  record.created_at = record.run_at = at(0);
  return record;
}

RecordedTransition row(TaskState from, TaskState to, std::string actor, int attempt, int second) {
  return {
      {from, to, std::move(actor), "Because.", Token{100 + second}, attempt, at(second)}, {}, {}};
}

RecordedTransition attempt_end(TaskState to, std::string actor, int attempt, int claimed, int ended,
                               WorkerId worker) {
  auto recorded = row(TaskState::running, to, std::move(actor), attempt, ended);
  recorded.claimed_at = at(claimed);
  recorded.worker = worker;
  return recorded;
}

/// `from>to@second#attempt` for each step.
std::vector<std::string> outline(const std::vector<Transition>& steps) {
  std::vector<std::string> lines;
  for (const auto& step : steps)
    lines.push_back(fmt::format("{}>{}@{}#{}", step.from ? to_string(*step.from) : "new",
                                to_string(step.to), (step.at - at(0)) / 1s, step.attempt));
  return lines;
}

void expect_sound(const std::vector<Transition>& steps, const TaskRecord& record) {
  ASSERT_FALSE(steps.empty());
  EXPECT_FALSE(steps.front().from);
  EXPECT_EQ(steps.back().to, record.state);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].from, steps[i - 1].to);
    EXPECT_TRUE(allowed(*steps[i].from, steps[i].to));
    EXPECT_LE(steps[i - 1].at, steps[i].at);
    EXPECT_FALSE(steps[i].actor.empty());
    EXPECT_FALSE(steps[i].reason.empty());
  }
}

TEST(History, OfANewTaskIsItsCreation) {
  for (auto state : {TaskState::pending, TaskState::blocked}) {
    auto steps = full_history(task(state), {});
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_EQ(steps[0].to, state);
    EXPECT_EQ(steps[0].actor, "client");
    EXPECT_EQ(steps[0].at, at(0));
  }
}

TEST(History, OfAPlainLifeIsDerivedWithoutAnyRecordedStep) {
  auto record = task(TaskState::completed);
  record.attempt = 1;
  record.token = Token{9};
  record.worker = first_worker;
  record.claimed_at = at(2);
  record.finished_at = at(5);
  auto steps = full_history(record, {});
  EXPECT_THAT(outline(steps),
              ElementsAre("new>pending@0#0", "pending>running@2#1", "running>completed@5#1"));
  EXPECT_EQ(steps[1].actor, "worker/" + first_worker.text());
  EXPECT_EQ(steps[1].token, Token{9});
  EXPECT_EQ(steps[2].actor, "worker/" + first_worker.text());
  expect_sound(steps, record);
}

TEST(History, OfARunningTaskEndsWithItsClaim) {
  auto record = task(TaskState::running);
  record.attempt = 1;
  record.claimed_at = at(2);
  record.worker = first_worker;
  EXPECT_THAT(outline(full_history(record, {})),
              ElementsAre("new>pending@0#0", "pending>running@2#1"));
}

TEST(History, DerivesTheBeginningOfEachAttemptFromItsRecordedEnd) {
  auto record = task(TaskState::completed);
  record.attempt = 2;
  record.worker = second_worker;
  record.claimed_at = at(9);
  record.finished_at = at(10);
  auto steps = full_history(
      record, {attempt_end(TaskState::pending, "worker/a", 1, 1, 2, first_worker),
               attempt_end(TaskState::pending, "system/recovery", 1, 4, 7, second_worker)});
  EXPECT_THAT(outline(steps),
              ElementsAre("new>pending@0#0", "pending>running@1#1", "running>pending@2#1",
                          "pending>running@4#2", "running>pending@7#1", "pending>running@9#2",
                          "running>completed@10#2"));
  EXPECT_EQ(steps[1].actor, "worker/" + first_worker.text());
  EXPECT_EQ(steps[1].token, Token{102});
  EXPECT_EQ(steps[3].actor, "worker/" + second_worker.text());
  EXPECT_EQ(steps[3].token, steps[4].token) << "recovery names the claim that it ended";
  EXPECT_EQ(steps[4].actor, "system/recovery");
  expect_sound(steps, record);
}

TEST(History, InPartsIsTheWhole) {
  auto record = task(TaskState::completed);
  record.attempt = 3;
  record.worker = second_worker;
  record.claimed_at = at(12);
  record.finished_at = at(13);
  const std::vector<RecordedTransition> rows{
      row(TaskState::blocked, TaskState::held, "operator", 0, 1),
      row(TaskState::held, TaskState::pending, "operator", 0, 2),
      attempt_end(TaskState::running, "cli/ada", 1, 3, 4, first_worker),
      attempt_end(TaskState::pending, "worker/a", 1, 3, 5, first_worker),
      attempt_end(TaskState::pending, "system/recovery", 1, 6, 7, second_worker)};
  const auto whole = outline(full_history(record, rows));
  for (std::size_t from = 0; from <= rows.size(); ++from)
    for (std::size_t to = from; to <= rows.size(); ++to) {
      const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(from);
      const auto end = rows.begin() + static_cast<std::ptrdiff_t>(to);
      const auto before = from > 0 ? std::optional{rows[from - 1]} : std::nullopt;
      const auto first = part_of_history(record, {}, {rows.begin(), begin}, false);
      const auto second = part_of_history(record, before, {begin, end}, false);
      const auto rest_before = to > 0 ? std::optional{rows[to - 1]} : std::nullopt;
      const auto rest = part_of_history(record, rest_before, {end, rows.end()}, true);
      EXPECT_EQ(second.ends.size(), to - from);
      if (from == 0 || to == from) continue;  // the first part has the creation in it
      auto together = outline(first.steps);
      for (const auto& more : {outline(second.steps), outline(rest.steps)})
        together.insert(together.end(), more.begin(), more.end());
      EXPECT_EQ(together, whole) << from << " " << to;
    }
}

TEST(History, TellsWhoAskedARunningTaskToStopAndClaimsItOnce) {
  auto record = task(TaskState::running);
  record.attempt = 1;
  record.worker = first_worker;
  record.claimed_at = at(1);
  auto asked = attempt_end(TaskState::running, "cli/ada", 1, 1, 3, first_worker);
  EXPECT_THAT(outline(full_history(record, {asked})),
              ElementsAre("new>pending@0#0", "pending>running@1#1", "running>running@3#1"));

  auto cancelled = attempt_end(TaskState::cancelled, "worker/a", 1, 1, 4, first_worker);
  record.state = TaskState::cancelled;
  EXPECT_THAT(outline(full_history(record, {asked, cancelled})),
              ElementsAre("new>pending@0#0", "pending>running@1#1", "running>running@3#1",
                          "running>cancelled@4#1"));

  record.state = TaskState::completed;
  record.finished_at = at(5);
  EXPECT_THAT(outline(full_history(record, {asked})),
              ElementsAre("new>pending@0#0", "pending>running@1#1", "running>running@3#1",
                          "running>completed@5#1"))
      << "it did not listen";
}

TEST(History, OfADeadLetterEndsOnceWithItsRecordedFailure) {
  auto record = task(TaskState::failed);
  record.attempt = 1;
  record.worker = first_worker;
  record.claimed_at = at(1);
  record.finished_at = at(2);
  auto steps =
      full_history(record, {attempt_end(TaskState::failed, "worker/a", 1, 1, 2, first_worker)});
  EXPECT_THAT(outline(steps),
              ElementsAre("new>pending@0#0", "pending>running@1#1", "running>failed@2#1"));
}

TEST(History, OfADeadLetterThatWasRedrivenCountsAttemptsFromOneAgain) {
  auto record = task(TaskState::running);
  record.attempt = 1;
  record.claimed_at = at(8);
  auto steps =
      full_history(record, {attempt_end(TaskState::failed, "worker/a", 1, 1, 2, first_worker),
                            row(TaskState::failed, TaskState::pending, "operator", 0, 5)});
  EXPECT_THAT(outline(steps),
              ElementsAre("new>pending@0#0", "pending>running@1#1", "running>failed@2#1",
                          "failed>pending@5#0", "pending>running@8#1"));
  expect_sound(steps, record);
}

TEST(History, OfATaskThatWasCancelledBeforeItRanHasNoClaim) {
  auto record = task(TaskState::cancelled);
  record.finished_at = at(3);
  auto steps =
      full_history(record, {row(TaskState::pending, TaskState::cancelled, "operator", 0, 3)});
  EXPECT_THAT(outline(steps), ElementsAre("new>pending@0#0", "pending>cancelled@3#0"));
}

TEST(History, OfATaskThatWaitedForOthersShowsItsRelease) {
  auto record = task(TaskState::running);
  record.attempt = 1;
  record.claimed_at = at(8);
  auto steps = full_history(record, {row(TaskState::blocked, TaskState::held, "operator", 0, 3),
                                     row(TaskState::held, TaskState::blocked, "operator", 0, 4)});
  EXPECT_THAT(outline(steps), ElementsAre("new>blocked@0#0", "blocked>held@3#0", "held>blocked@4#0",
                                          "blocked>pending@8#0", "pending>running@8#1"));
  expect_sound(steps, record);
}

}  // namespace
}  // namespace holdfast
