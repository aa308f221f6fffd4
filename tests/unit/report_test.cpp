#include <holdfast/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/error.hpp>

#include "recovery/time_text.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

const WallTime started = *parse_iso8601("2024-01-15T10:30:00.250Z");

RecoveryReport sample() {
  RecoveryReport report;
  report.started_at = started;
  report.completed_at = started + 1'200ms;
  report.duration = 1'200ms;
  report.trigger = "start-up";
  auto worker = WorkerId::make();
  report.tasks = {
      {TaskId::make(), RecoveryAction::retry, TaskState::pending, 2, 3, "It \"runs\" again.",
       worker, true, ""},
      {TaskId::make(), RecoveryAction::retry, TaskState::failed, 3, 3, "Too often.", worker, true,
       ""},
      {TaskId::make(), RecoveryAction::fail, TaskState::running, 1, 3, "", {}, false, "Disk full."},
  };
  report.dead_workers = {
      {worker, "box", 4711, started - 5min, "its lock is free", "ended by signal 11"}};
  report.stale_writes_refused = 4;
  report.stale_writes_refused_ever = 5'000'000'000;
  return report;
}

TEST(Report, ComesBackFromJsonAsItWas) {
  auto report = sample();
  auto back = report_from_json(to_json(report));
  EXPECT_EQ(to_json(back), to_json(report));
  EXPECT_EQ(back.started_at, report.started_at);
  EXPECT_EQ(back.completed_at, report.completed_at);
  EXPECT_EQ(back.duration, report.duration);
  ASSERT_EQ(back.tasks.size(), 3u);
  EXPECT_EQ(back.tasks[0].id, report.tasks[0].id);
  EXPECT_EQ(back.tasks[0].reason, report.tasks[0].reason);
  EXPECT_EQ(back.tasks[0].worker, report.tasks[0].worker);
  EXPECT_EQ(back.tasks[1].now, TaskState::failed);
  EXPECT_EQ(back.tasks[2].action, RecoveryAction::fail);
  EXPECT_FALSE(back.tasks[2].worker);
  EXPECT_FALSE(back.tasks[2].success);
  EXPECT_EQ(back.tasks[2].error, "Disk full.");
  ASSERT_EQ(back.dead_workers.size(), 1u);
  EXPECT_EQ(back.dead_workers[0].last_heartbeat, started - 5min);
  EXPECT_EQ(back.dead_workers[0].evidence, "ended by signal 11");
  EXPECT_EQ(back.stale_writes_refused, 4);
  EXPECT_EQ(back.stale_writes_refused_ever, 5'000'000'000);
}

TEST(Report, AnEmptyOneComesBackToo) {
  EXPECT_FALSE(report_from_json(to_json({})).found_anything());
}

TEST(Report, RefusesWhatIsNotAReport) {
  auto good = to_json(sample());
  auto spoilt = good;
  spoilt.replace(spoilt.find("\"failed\""), 8, "\"faded\"");
  for (const std::string& text : {std::string{}, std::string{"[]"}, std::string{"{}"}, spoilt,
                                  good.substr(0, good.size() / 2)})
    EXPECT_THROW(report_from_json(text), StoreUnusable) << text;
}

TEST(Report, TellsPeopleWhatWasFoundAndDecidedAndWhy) {
  auto report = sample();
  auto text = to_text(report, started + 1min);
  for (const auto& part : {
           std::string{"started:   2024-01-15T10:30:00.250Z (1m ago)"},
           std::string{"trigger:   start-up"},
           std::string{"took:      1.2 s"},
           std::string{"Orphans taken back: 2\n"},
           report.tasks[0].id.text() + "  runs again, attempt 2/3\n    It \"runs\" again.",
           report.tasks[1].id.text() + "  failed, attempt 3/3\n    Too often.",
           std::string{"Orphans that could not be taken back: 1\n"},
           report.tasks[2].id.text() + "  attempt 1/3\n    Disk full.",
           std::string{"Dead workers: 1\n"},
           std::string{"box, pid 4711, last heartbeat 6m ago\n"},
           std::string{"its lock is free; ended by signal 11"},
           std::string{"Stale writes refused since the report before: 4"},
           std::string{"Completed: 2024-01-15T10:30:01.450Z"},
       })
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(Report, DoesNotSpeakOfFailuresWhereThereAreNone) {
  auto report = sample();
  report.tasks.pop_back();
  EXPECT_THAT(to_text(report, started), Not(HasSubstr("could not")));
}

TEST(Report, FitsOnAScreenHoweverManyOrphansThereAre) {
  auto report = sample();
  report.tasks.assign(500, report.tasks[0]);
  auto text = to_text(report, started);
  EXPECT_LT(std::ranges::count(text, '\n'), 60);
  EXPECT_THAT(text, HasSubstr("Orphans taken back: 500\n"));
  EXPECT_THAT(text, HasSubstr("and 480 more"));
}

TEST(Report, CannotSteerATerminal) {
  auto report = sample();
  report.dead_workers[0].host = "\x1b[2Jbox";
  EXPECT_THAT(to_text(report, started), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace holdfast
