#include <holdfast/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include <holdfast/error.hpp>

#include "recovery/time_text.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

const WallTime started = *parse_iso8601("2024-01-15T10:30:00.250Z");

StartUp sample_start_up() {
  StartUp start_up;
  start_up.began = started;
  start_up.duration = 420ms;
  start_up.unclean = true;
  start_up.rebooted = true;
  start_up.recovery_point = {145, started - 1min, TaskId::make()};
  start_up.integrity.passed = false;
  start_up.integrity.completed = false;
  start_up.integrity.duration = 350ms;
  start_up.integrity.rows_checked = 1'200;
  start_up.integrity.damage = {{Damage::Kind::row, "A row was changed.", TaskId::make()}};
  start_up.integrity.advice = "Restore a backup.";
  start_up.journal_mode = "delete";
  start_up.wal_restored = true;
  start_up.wal_bytes = 5'000'000'000;
  start_up.wal_frames = 150;
  start_up.wal_frames_checkpointed = 145;
  start_up.checkpoint_error = "a reader was in the way";
  start_up.evidence = "/evidence";
  start_up.repair = "rebuilt";
  start_up.kept_aside = "/aside";
  start_up.losses = {{Damage::Kind::lost, "A task is gone.", {}}};
  start_up.level = RunLevel::read_only;
  start_up.reason = "Commits are lost.";
  start_up.wal_unread = "another program writes";
  return start_up;
}

RecoveryReport sample() {
  RecoveryReport report;
  report.started_at = started;
  report.completed_at = started + 1'200ms;
  report.duration = 1'200ms;
  report.trigger = "start-up";
  auto worker = WorkerId::make();
  for (const RecoveredTask& task : std::vector<RecoveredTask>{
           {TaskId::make(), RecoveryAction::retry, TaskState::pending, 2, 3, "It \"runs\" again.",
            worker, true, ""},
           {TaskId::make(), RecoveryAction::retry, TaskState::failed, 3, 3, "Too often.", worker,
            true, ""},
           {TaskId::make(),
            RecoveryAction::fail,
            TaskState::running,
            1,
            3,
            "",
            {},
            false,
            "Disk full."},
       })
    report.add(task);
  report.dead_workers = {
      {worker, "box", 4711, started - 5min, "its lock is free", "ended by signal 11"}};
  report.id = ReportId::make();
  report.start_up = sample_start_up();
  report.errors = {"The disk was full for a while."};
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

TEST(Report, WhatTheStartUpFoundComesBackToo) {
  auto report = sample();
  report.state = ReportState::interrupted;
  report.action = RecoveryAction::pending;
  auto back = report_from_json(to_json(report));
  EXPECT_EQ(back.id, report.id);
  EXPECT_EQ(back.state, ReportState::interrupted);
  EXPECT_EQ(back.action, RecoveryAction::pending);
  EXPECT_EQ(back.errors, report.errors);
  EXPECT_EQ(back.orphans.pending, 1);
  EXPECT_EQ(back.orphans.failed, 1);
  EXPECT_EQ(back.orphans.not_taken, 1);
  ASSERT_TRUE(back.start_up);
  const auto& start_up = *back.start_up;
  EXPECT_TRUE(start_up.unclean && start_up.rebooted && start_up.wal_restored);
  EXPECT_EQ(start_up.recovery_point->wal_frame, 145);
  EXPECT_EQ(start_up.recovery_point->at, started - 1min);
  EXPECT_EQ(start_up.recovery_point->newest, report.start_up->recovery_point->newest);
  EXPECT_EQ(start_up.integrity.damage.at(0).kind, Damage::Kind::row);
  EXPECT_EQ(start_up.integrity.damage.at(0).task, report.start_up->integrity.damage[0].task);
  EXPECT_EQ(start_up.wal_bytes, 5'000'000'000);
  EXPECT_EQ(start_up.losses.at(0).what, "A task is gone.");
  EXPECT_EQ(start_up.level, RunLevel::read_only);
  EXPECT_EQ(start_up.began, started);
  EXPECT_EQ(start_up.duration, 420ms);
  EXPECT_EQ(start_up.reason, "Commits are lost.");
  EXPECT_EQ(start_up.wal_unread, "another program writes");
}

TEST(Report, OneOfTheFirstVersionCanStillBeRead) {
  auto report = report_from_json(
      R"({"started_at":"2024-01-15T10:30:00.250Z","completed_at":"2024-01-15T10:30:01.450Z",)"
      R"("duration_ms":1200,"trigger":"watch","tasks":[{"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV",)"
      R"("action":"retry","now":"pending","attempt":1,"max_attempts":3,"reason":"It died.",)"
      R"("worker":null,"success":true,"error":""}],"dead_workers":[],"stale_writes_refused":4,)"
      R"("stale_writes_refused_ever":5})");
  EXPECT_EQ(report.state, ReportState::complete);
  EXPECT_EQ(report.orphans.pending, 1);
  EXPECT_EQ(report.tasks.at(0).reason, "It died.");
  EXPECT_FALSE(report.start_up);
}

TEST(Report, CleanStartUpIsNoNewsAndEverythingElseIs) {
  RecoveryReport report;
  report.start_up.emplace();
  report.start_up->wal_frames = report.start_up->wal_frames_checkpointed = 3;
  report.start_up->integrity.rows_checked = 10;
  EXPECT_FALSE(report.found_anything());
  for (auto spoil : std::vector<std::function<void(StartUp&)>>{
           [](StartUp& it) { it.unclean = true; }, [](StartUp& it) { it.integrity.passed = false; },
           [](StartUp& it) { it.wal_restored = true; },
           [](StartUp& it) { it.checkpoint_error = "no room"; },
           [](StartUp& it) { it.wal_unread = "another program writes"; },
           [](StartUp& it) { it.repair = "reindexed"; },
           [](StartUp& it) { it.losses.emplace_back(); },
           [](StartUp& it) { it.level = RunLevel::read_only; }}) {
    auto spoilt = report;
    spoil(*spoilt.start_up);
    EXPECT_TRUE(spoilt.found_anything());
  }
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
           std::string{"action:    retry"},
           std::string{"last shutdown:   unclean: the machine was restarted\n"},
           std::string{"integrity check: FAILED (quick, not finished, 1200 rows, 350 ms)\n"},
           std::string{"advice:          Restore a backup.\n"},
           std::string{
               "WAL:             145 of 150 frames checkpointed (5000000000 bytes found)\n"},
           std::string{"checkpoint:      failed: a reader was in the way\n"},
           std::string{"journal mode:    was delete, set back to wal\n"},
           std::string{"recovery point:  WAL frame 145, written 2024-01-15T10:29:00.250Z (2m ago), "
                       "newest task "},
           std::string{"repair:          rebuilt\n"},
           std::string{"evidence:        /evidence\n"},
           std::string{"kept aside:      /aside\n"},
           std::string{"run level:       read-only: Commits are lost.\n"},
           std::string{
               "Start-up, ready after 420 ms; the WAL was not read: another program writes\n"},
           std::string{"Damage found: 1\n  row, task "},
           std::string{"Lost or partial: 1\n  lost: A task is gone.\n"},
           std::string{"Orphans found: 3: 1 run again, 1 failed, 1 could not be taken back\n"},
           std::string{"Orphans taken back: 2\n"},
           report.tasks[0].id.text() + "  runs again, attempt 2/3\n    It \"runs\" again.",
           report.tasks[1].id.text() + "  failed, attempt 3/3\n    Too often.",
           std::string{"Orphans that could not be taken back: 1\n"},
           report.tasks[2].id.text() + "  attempt 1/3\n    Disk full.",
           std::string{"Dead workers: 1\n"},
           std::string{"box, pid 4711, last heartbeat 6m ago\n"},
           std::string{"its lock is free; ended by signal 11"},
           std::string{"Errors: 1\n  The disk was full for a while.\n"},
           std::string{"Stale writes refused since the report before: 4"},
           std::string{"Completed: 2024-01-15T10:30:01.450Z"},
       })
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(Report, SaysThatItsRecoveryWasInterruptedOrNeverHappened) {
  auto report = sample();
  report.state = ReportState::interrupted;
  EXPECT_THAT(to_text(report, started), HasSubstr("interrupted: it did not come to its end"));
  EXPECT_THAT(to_text(report, started), Not(HasSubstr("Completed:")));
  report.state = ReportState::running;
  EXPECT_THAT(to_text(report, started), HasSubstr("still at work"));
  report.state = ReportState::dry_run;
  EXPECT_THAT(to_text(report, started), HasSubstr("nothing was changed"));
  EXPECT_THAT(to_text(report, started), HasSubstr("Orphans that would be taken back: 2"));
}

TEST(Report, DoesNotSpeakOfFailuresWhereThereAreNone) {
  auto report = sample();
  report.tasks.pop_back();
  report.orphans.not_taken = 0;
  EXPECT_THAT(to_text(report, started), Not(HasSubstr("could not")));
}

TEST(Report, FitsOnAScreenHoweverManyOrphansThereAre) {
  auto report = sample();
  auto task = report.tasks[0];
  report.tasks.clear();
  report.orphans = {};
  for (int i = 0; i < 500; ++i) report.add(task);
  auto text = to_text(report, started);
  EXPECT_LT(std::ranges::count(text, '\n'), 80);
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
