#include <sqlite3.h>

#include <filesystem>

#include <boost/json/parse.hpp>

#include "engines/sqlite/engine.hpp"
#include "scenario/cli_scenario.hpp"
#include "scenario/store_files.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

namespace fs = std::filesystem;

/// What the first one to open a store finds and does.
class StartUps : public CliScenario {
 protected:
  /// Ten tasks, each with a commit of its own that is only in the log, and the store is closed.
  void fill() {
    open_lasting();  // makes the store
    open_lasting();  // and puts that into the database
    for (int i = 0; i < 10; ++i) add({"mail"});
  }
  /// A place within a page, half-way through the log.
  std::uint64_t in_the_middle() const {
    auto scan = log_.scan();
    return scan.offset_of(scan.frames / 2) + 24;
  }
  std::size_t tasks() const { return json({"task", "list"}).size(); }

  StartUp open_lasting() const {
    auto engine = sqlite::open_store(store_.database(), {});
    auto found = engine->take_start_up();
    EXPECT_TRUE(found);
    EXPECT_FALSE(engine->take_start_up()) << "handed over once";
    return found.value_or(StartUp{});
  }

  std::size_t evidence() const {
    std::size_t count = 0;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator{folder() / "evidence", none})
      count += entry.is_directory();
    return count;
  }
  fs::path folder() const { return store_.database() + ".holdfast"; }

  std::size_t losses_named_by_doctor() const {
    const auto doctor = boost::json::parse(cli({"--json", "doctor"}).out);
    std::size_t named = 0;
    for (const auto& loss : doctor.at("losses").as_array()) named += loss.at("task").is_string();
    return named;
  }

  void expect_read_only() const {
    const Finished add = cli({"task", "add", "mail"});
    EXPECT_EQ(add.ending.code, 3);
    EXPECT_THAT(add.err, HasSubstr("write-ahead log"));
    EXPECT_THAT(add.err, HasSubstr("--accept-loss"));
    EXPECT_EQ(cli({"worker", "run", "--kind", "mail", "--exec", "true"}).ending.code, 3);
    EXPECT_EQ(cli({"queue", "recover"}).ending.code, 3);
    EXPECT_EQ(cli({"task", "list"}).ending.code, 0);
    EXPECT_EQ(cli({"doctor"}).ending.code, 3);
  }
  void expect_normal() const {
    EXPECT_EQ(cli({"doctor"}).ending.code, 0);
    ok({"task", "add", "mail"});
  }

  StoreFile log_{store_.database() + "-wal"};
};

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
  EXPECT_EQ(found.wal_frames, 0) << "not read";
  EXPECT_THAT(found.checkpoint_error, Not(IsEmpty()));
  EXPECT_TRUE(found.integrity.passed);
  auto doctor = json({"doctor"}).at(0);
  EXPECT_EQ(doctor.at("other_programs").as_array().size(), 1U);
  sqlite3_close(db);
}

}  // namespace
}  // namespace holdfast::test
