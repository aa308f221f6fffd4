#include <sqlite3.h>

#include <filesystem>

#include "scenario/start_ups.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

namespace fs = std::filesystem;

TEST_F(StartUps, AStoreThatWasClosedProperlyIsCheckedAndItsLogEmptied) {
  fill();
  auto frames = log_.scan().frames;
  EXPECT_GT(frames, 10);
  auto found = open_lasting();
  EXPECT_FALSE(found.unclean);
  EXPECT_TRUE(found.integrity.passed);
  EXPECT_TRUE(found.integrity.completed);
  EXPECT_EQ(found.integrity.rows_checked, 10);
  EXPECT_EQ(found.wal_frames, frames);
  EXPECT_EQ(found.wal_frames_checkpointed, frames);
  EXPECT_EQ(found.journal_mode, "wal");
  EXPECT_EQ(found.level, RunLevel::normal);
  ASSERT_TRUE(found.recovery_point);
  EXPECT_EQ(found.recovery_point->wal_frame, frames);
  EXPECT_TRUE(found.recovery_point->newest);
  EXPECT_EQ(evidence(), 0U);
}

TEST_F(StartUps, ADeathIsSeenUntilSomebodyHasTakenCareOfIt) {
  fill();
  const Finished killed =
      run({HOLDFAST_PROGRAM, "--store", store_.address(), "task", "add", "mail"},
          {{"HOLDFAST_KILL_AT", "enqueue_after_commit"}});
  ASSERT_EQ(killed.ending.signal, SIGKILL);
  EXPECT_EQ(tasks(), 11U) << "a command that only looks leaves it to others";
  auto found = open_lasting();
  EXPECT_TRUE(found.unclean);
  EXPECT_FALSE(found.rebooted);
  EXPECT_TRUE(found.integrity.completed);
  EXPECT_FALSE(open_lasting().unclean);
}

TEST_F(StartUps, TheSecondOneToOpenAStoreFindsNothing) {
  fill();
  auto first = sqlite::open_store(store_.database(), {});
  auto second = sqlite::open_store(store_.database(), {});
  EXPECT_FALSE(second->take_start_up());
  EXPECT_TRUE(first->take_start_up());
}

TEST_F(StartUps, AWorkerThatComesWhileACommandIsThereChecksForItself) {
  fill();
  open_lasting();
  OtherProgram{store_.database()}.run("UPDATE holdfast_tasks SET payload = 'other' WHERE seq = 3");
  auto brief = sqlite::open_store(store_.database(), {}, system_clock(), {.stay = Stay::brief});
  EXPECT_THAT([&] { sqlite::open_store(store_.database(), {}); },
              testing::ThrowsMessage<StoreUnusable>(HasSubstr("alone with it")));
  brief.reset();
  auto found = open_lasting();
  EXPECT_FALSE(found.integrity.passed);
  EXPECT_TRUE(found.integrity.full) << "what was seen is remembered";
  EXPECT_THAT(found.losses, SizeIs(1));
}

TEST_F(StartUps, AJournalModeThatACommandSetBackIsReported) {
  fill();
  open_lasting();
  OtherProgram{store_.database()}.run("PRAGMA journal_mode = DELETE");
  tasks();
  const auto report = cli({"queue", "recovery-report"});
  EXPECT_THAT(report.out, HasSubstr("was delete, set back to wal"));
}

TEST_F(StartUps, AFlippedBitInTheLogIsTurnedBack) {
  fill();
  auto damaged = in_the_middle() + 2000;
  log_.flip(damaged, 0x04);
  EXPECT_EQ(tasks(), 10U) << "nothing is lost";
  EXPECT_EQ(evidence(), 1U);
  auto reports = json({"queue", "recovery-report"});
  EXPECT_THAT(reports, SizeIs(1)) << "what a passing command found is not forgotten";
  log_.flip(damaged, 0x04);
  auto found = open_lasting();
  EXPECT_EQ(found.repair, "mended");
  EXPECT_THAT(found.losses, IsEmpty());
  EXPECT_TRUE(found.integrity.full) << "suspicious";
  EXPECT_TRUE(found.integrity.passed);
}

TEST_F(StartUps, CommitsThatCannotBeReadMakeItReadOnlyUntilThatIsAccepted) {
  fill();
  log_.zero(in_the_middle(), 4096);
  auto losses = losses_named_by_doctor();
  expect_read_only();
  auto seen = tasks();
  EXPECT_EQ(losses, 10 - seen) << "each by its id";
  EXPECT_GT(seen, 0U);
  EXPECT_LT(seen, 10U);
  expect_read_only();
  EXPECT_EQ(evidence(), 1U);
  EXPECT_EQ(losses_named_by_doctor(), losses) << "they are not forgotten";
  EXPECT_THAT(ok({"doctor", "--accept-loss"}), HasSubstr("run level         normal"));
  EXPECT_THAT(ok({"queue", "recovery-report"}), HasSubstr("was added by a commit that is lost"));
  EXPECT_EQ(tasks(), seen);
  expect_normal();
}

TEST_F(StartUps, ALossHoldsAlsoWhileAnotherProgramHasTheFileOpen) {
  fill();
  log_.zero(in_the_middle(), 4096);
  expect_read_only();
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(store_.database().c_str(), &db), SQLITE_OK);
  sqlite3_exec(db, "SELECT count(*) FROM holdfast_tasks", nullptr, nullptr, nullptr);
  expect_read_only();
  sqlite3_close(db);
}

TEST_F(StartUps, ALogThatWasCutShortIsNoticed) {
  fill();
  log_.truncate(in_the_middle());
  expect_read_only();
  ok({"doctor", "--accept-loss"});
  expect_normal();
}

TEST_F(StartUps, ALogThatIsGoneIsNoticed) {
  fill();
  fs::remove(log_.path());
  expect_read_only();
  EXPECT_EQ(tasks(), 0U);
  ok({"doctor", "--accept-loss"});
  expect_normal();
}

TEST_F(StartUps, WhereNothingIsLeftItHaltsAndSaysWhy) {
  add({"mail"});
  fs::remove(log_.path());
  const Finished list = cli({"task", "list"});
  EXPECT_EQ(list.ending.code, 4);
  EXPECT_THAT(list.err, HasSubstr("write-ahead log"));
}

TEST_F(StartUps, AnOlderLogHaltsUntilTheLossIsAccepted) {
  fill();
  auto old = log_.read();
  open_lasting();
  fill();
  log_.write(old);
  const Finished list = cli({"task", "list"});
  EXPECT_EQ(list.ending.code, 4) << list.out;
  EXPECT_THAT(list.err, HasSubstr("older copy"));
  const Finished doctor = cli({"doctor"});
  EXPECT_EQ(doctor.ending.code, 4);
  EXPECT_THAT(doctor.out, HasSubstr("--accept-loss"));
  EXPECT_EQ(log_.read(), old) << "nothing was touched";
  ok({"doctor", "--accept-loss"});
  EXPECT_EQ(tasks(), 10U) << "what was in the database";
  expect_normal();
}

TEST_F(StartUps, ALogWithoutABeginningHaltsAndNamesWhatWasInIt) {
  fill();
  open_lasting();
  fill();
  log_.zero(0, 4096);
  EXPECT_EQ(cli({"task", "list"}).ending.code, 4);
  EXPECT_EQ(losses_named_by_doctor(), 10U) << "not those that are in the database";
  ok({"doctor", "--accept-loss"});
  EXPECT_THAT(ok({"queue", "recovery-report"}), HasSubstr("was added by a commit that is lost"));
  EXPECT_EQ(tasks(), 10U);
  expect_normal();
}

TEST_F(StartUps, AChangedJournalModeIsChangedBack) {
  fill();
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(store_.database().c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  auto found = open_lasting();
  EXPECT_EQ(found.journal_mode, "delete");
  EXPECT_TRUE(found.wal_restored);
  EXPECT_EQ(json({"doctor"}).at(0).at("journal_mode"), "wal");
  EXPECT_EQ(tasks(), 10U);
}

TEST_F(StartUps, TryingARecoveryLeavesTheMarkOfAnUncleanEnd) {
  fill();
  auto worker = start({"worker", "run", "--kind", "none", "--exec", "true"});
  ASSERT_TRUE(eventually([&] { return json({"worker", "list"}).size() == 1; }));
  worker.kill();
  ok({"queue", "recover", "--dry-run"});
  EXPECT_TRUE(open_lasting().unclean);
}

TEST_F(StartUps, AStoreThatSomethingHasEmptiedIsNotANewOne) {
  fill();
  std::filesystem::remove(store_.database() + "-wal");
  std::filesystem::resize_file(store_.database(), 0);
  const Finished finished = cli({"task", "add", "mail"});
  EXPECT_EQ(finished.ending.code, 4);
  EXPECT_THAT(finished.err, HasSubstr("there was a store in it"));
  EXPECT_EQ(std::filesystem::file_size(store_.database()), 0U) << "nothing was touched";
}

TEST_F(StartUps, TenProcessesAtOnceMendItOnce) {
  fill();
  log_.flip(in_the_middle() + 2000, 0x04);
  std::vector<Process> all;
  for (int i = 0; i < 10; ++i) all.push_back(start({"task", "add", "mail"}));
  for (auto& each : all) {
    auto ending = each.wait();
    ASSERT_TRUE(ending);
    EXPECT_TRUE(ending->ok()) << each.err();
  }
  EXPECT_EQ(tasks(), 20U);
  EXPECT_EQ(evidence(), 1U);
}

TEST_F(StartUps, AStoreThatAProgramOfTheUserHasOpenIsLeftAlone) {
  fill();
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(store_.database().c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "SELECT count(*) FROM holdfast_tasks", nullptr, nullptr, nullptr),
            SQLITE_OK);
  auto found = open_lasting();
  EXPECT_GT(found.wal_frames, 10) << "read all the same";
  EXPECT_THAT(found.wal_unread, IsEmpty());
  EXPECT_THAT(found.checkpoint_error, Not(IsEmpty()));
  EXPECT_TRUE(found.integrity.passed);
  auto doctor = json({"doctor"}).at(0);
  EXPECT_EQ(doctor.at("other_programs").as_array().size(), 1U);
  sqlite3_close(db);
}

TEST_F(StartUps, AFileThatDidNotOpenHasFailedTheCheckAlsoWhenItWasMended) {
  fill();
  open_lasting();
  StoreFile{store_.database()}.flip(3, 0x10);  // in the name of its format
  auto found = open_lasting();
  EXPECT_FALSE(found.integrity.passed);
  ASSERT_THAT(found.integrity.damage, SizeIs(1));
  EXPECT_THAT(found.integrity.damage.front().what, HasSubstr("not a database"));
  EXPECT_EQ(found.repair, "corrected");
  EXPECT_EQ(tasks(), 10U);
}

TEST_F(StartUps, HaveOneReportWhichCoversThem) {
  fill();
  auto worker = start({"worker", "run", "--kind", "none", "--exec", "true"});
  ASSERT_TRUE(eventually([&] { return json({"worker", "list"}).size() == 1; }));
  worker.kill();
  log_.flip(in_the_middle() + 2000, 0x04);
  ok({"queue", "recover"});
  const auto reports = json({"queue", "recovery-report", "--last", "10"});
  ASSERT_THAT(reports, SizeIs(1));
  const auto& report = reports.at(0);
  const auto& start_up = report.at("start_up").as_object();
  EXPECT_EQ(start_up.at("repair"), "mended");
  EXPECT_EQ(report.at("dead_workers").as_array().size(), 1U);
  EXPECT_EQ(report.at("trigger"), "operator");
  EXPECT_EQ(report.at("started_at"), start_up.at("began"));
  EXPECT_GE(report.at("duration_ms").as_int64(), start_up.at("duration_ms").as_int64());
  EXPECT_EQ(json({"queue", "recovery-status"}).at(0).at("totals").at("recoveries"), 1);
}

TEST_F(StartUps, SayThatTheLogCouldNotBeEmptied) {
  fill();
  OtherProgram other{store_.database()};
  auto engine = sqlite::open_store(store_.database(), {});
  std::vector<std::string> troubles;
  engine->events().subscribe([&](const Event& event) {
    if (auto trouble = std::get_if<StoreTrouble>(&event)) troubles.push_back(trouble->what);
  });
  EXPECT_THAT(engine->take_start_up()->checkpoint_error, Not(IsEmpty()));
  EXPECT_THAT(troubles, testing::ElementsAre(HasSubstr("write-ahead log")));
}

TEST_F(StartUps, NameWhatIsLostOfReports) {
  fill();
  auto worker = start({"worker", "run", "--kind", "none", "--exec", "true"});
  ASSERT_TRUE(eventually([&] { return json({"worker", "list"}).size() == 1; }));
  worker.kill();
  ok({"queue", "recover"});
  open_lasting();
  const StoreFile database{store_.database()};
  database.zero(4096 * (root_page("holdfast_reports") - 1), 4096);
  auto found = open_lasting();
  EXPECT_EQ(found.repair, "salvaged");
  EXPECT_EQ(tasks(), 10U);
  EXPECT_THAT(found.losses, testing::Contains(testing::Field(
                                &Damage::what, HasSubstr("Reports of earlier recoveries"))));
}

TEST_F(StartUps, TellWhoeverCausesARepair) {
  fill();
  open_lasting();
  const StoreFile database{store_.database()};
  database.zero(4096 * (root_page("holdfast_meta") - 1), 4096);
  auto list = cli({"task", "list"});
  EXPECT_TRUE(list.ending.ok()) << list.err;
  EXPECT_THAT(list.err, HasSubstr("holdfast: the store was damaged and is salvaged"));
  EXPECT_THAT(list.err, HasSubstr("recovery-report"));
  EXPECT_THAT(cli({"task", "list"}).err, IsEmpty()) << "once";
  EXPECT_THAT(cli({"doctor"}).out, HasSubstr("recovery-report"));
}

TEST_F(StartUps, AFileThatCannotBeMendedHasFailedTheCheck) {
  fill();
  open_lasting();
  fs::resize_file(store_.database(), 5'000);
  const Finished doctor = cli({"doctor"});
  EXPECT_EQ(doctor.ending.code, 4);
  EXPECT_THAT(doctor.out, HasSubstr("integrity         FAILED"));
  EXPECT_THAT(doctor.out, HasSubstr("restore"));
}

TEST_F(StartUps, AnOldReportThatIsDamagedIsInNobodysWay) {
  fill();
  for (int deaths = 0; deaths < 2; ++deaths) {
    auto worker = start({"worker", "run", "--kind", "none", "--exec", "true"});
    ASSERT_TRUE(eventually([&] { return json({"worker", "list"}).size() == deaths + 1U; }));
    worker.kill();
    ok({"queue", "recover"});
    OtherProgram{store_.database()}.run("UPDATE holdfast_reports SET report = '{' WHERE n = 1");
  }
  const auto reports = json({"queue", "recovery-report", "--last", "2"});
  ASSERT_THAT(reports, SizeIs(2));
  EXPECT_THAT(reports.at(0).at("errors").as_array(), IsEmpty());
  EXPECT_THAT(reports.at(1).at("errors").as_array(), SizeIs(1));
  EXPECT_THAT(reports.at(1).at("dead_workers").as_array(), SizeIs(1));
}

}  // namespace
}  // namespace holdfast::test
