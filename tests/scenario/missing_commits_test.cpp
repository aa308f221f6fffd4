#include <fmt/format.h>

#include "scenario/start_ups.hpp"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Commits that were acknowledged and are not there any more, and what only looks like that.
class MissingCommits : public StartUps {
 protected:
  void remove_log() const {
    fs::remove(log_.path());
    fs::remove(store_.database() + "-shm");
  }
  void expect_nothing_missing() const {
    auto found = open_lasting();
    EXPECT_EQ(found.level, RunLevel::normal);
    EXPECT_THAT(found.losses, IsEmpty());
    EXPECT_EQ(tasks(), 10U);
  }
};

TEST_F(MissingCommits, AreSeenWhileAnotherProgramHasTheFileOpen) {
  fill();
  log_.zero(in_the_middle(), 4096);
  OtherProgram other{store_.database()};
  auto losses = losses_named_by_doctor();
  expect_read_only();
  EXPECT_EQ(losses, 10 - tasks()) << "each by its id";
  EXPECT_EQ(evidence(), 1U);
}

TEST_F(MissingCommits, AreAcceptedWhileAnotherProgramHasTheFileOpen) {
  fill();
  log_.zero(in_the_middle(), 4096);
  OtherProgram other{store_.database()};
  expect_read_only();
  ok({"doctor", "--accept-loss"});
  expect_normal();
}

TEST_F(MissingCommits, StayMissedWhenAnotherProgramHasStartedTheLogAnew) {
  fill();
  log_.zero(in_the_middle(), 4096);
  expect_read_only();
  {
    OtherProgram other{store_.database()};
    other.run("PRAGMA wal_checkpoint(TRUNCATE); CREATE TABLE theirs (a)");
  }
  expect_read_only();
}

TEST_F(MissingCommits, AreNotSupposedOfWhoDiesBesideAnotherProgram) {
  fill();
  OtherProgram other{store_.database()};
  for (const char* point : {"enqueue_before_commit", "enqueue_after_commit"}) {
    const Finished killed =
        run({HOLDFAST_PROGRAM, "--store", store_.address(), "task", "add", "mail"},
            {{"HOLDFAST_KILL_AT", point}});
    ASSERT_EQ(killed.ending.signal, SIGKILL);
  }
  auto found = open_lasting();
  EXPECT_EQ(found.level, RunLevel::normal);
  EXPECT_THAT(found.losses, IsEmpty());
  EXPECT_GT(found.wal_frames, 0);
}

TEST_F(MissingCommits, TheReportSaysThatNobodyCouldLook) {
  fill();
  OtherProgram other{store_.database()};
  other.run("BEGIN IMMEDIATE");
  auto found = open_lasting();
  EXPECT_THAT(found.wal_unread, HasSubstr("another program"));
  EXPECT_TRUE(found.found_anything());
}

TEST_F(MissingCommits, AreMissedWhenTheLogWasRemovedWithItsSharedMemory) {
  fill();
  remove_log();
  expect_read_only();
  EXPECT_THAT(ok({"queue", "recovery-report"}), HasSubstr("the write-ahead log is gone"));
  expect_read_only();
  ok({"doctor", "--accept-loss"});
  expect_normal();
  EXPECT_EQ(open_lasting().level, RunLevel::normal) << "accepted once";
}

TEST_F(MissingCommits, AreMissedAfterAKill) {
  fill();
  auto worker = start({"worker", "run", "--kind", "none", "--exec", "true"});
  ASSERT_TRUE(eventually([&] { return json({"worker", "list"}).size() == 1; }));
  ok({"task", "add", "mail"});
  worker.kill();
  remove_log();
  expect_read_only();
}

TEST_F(MissingCommits, DoNotHideThatSomebodyHasDied) {
  fill();
  auto worker = start({"worker", "run", "--kind", "none", "--exec", "true"});
  ASSERT_TRUE(eventually([&] { return json({"worker", "list"}).size() == 1; }));
  for (int i = 0; i < 3; ++i) ok({"task", "add", "mail"});
  worker.kill();
  auto scan = log_.scan();
  log_.zero(scan.offset_of(scan.frames - 8) + 24, 4096);
  expect_read_only();
  EXPECT_EQ(boost::json::parse(cli({"--json", "doctor"}).out).at("unclean"), true);
}

TEST_F(MissingCommits, HaltTheStoreWhereTheLogWasAllThereWas) {
  add({"mail"});
  remove_log();
  const Finished list = cli({"task", "list"});
  EXPECT_EQ(list.ending.code, 4) << list.out;
  EXPECT_THAT(list.err, HasSubstr("write-ahead log"));
  const Finished metrics = cli({"queue", "metrics"});
  EXPECT_EQ(metrics.ending.code, 4);
  EXPECT_THAT(metrics.out, HasSubstr("holdfast_store_run_level"));
  EXPECT_THAT(metrics.out, HasSubstr("} 2\n"));
  ok({"doctor", "--accept-loss"});
  expect_normal();
}

TEST_F(MissingCommits, AreNamedWhereTheLogWasAllThereWas) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(add({"mail", fmt::format("\"{:05000}\"", i)}));
  log_.zero(log_.scan().offset_of(2) + 24, 4096);
  const Finished doctor = cli({"doctor"});
  EXPECT_EQ(doctor.ending.code, 4);
  for (const auto& id : ids) EXPECT_THAT(doctor.out, HasSubstr("Task " + id + " was added"));
}

TEST_F(MissingCommits, AreNotMissedWhenSqliteHasCopiedTheLogAndRemovedIt) {
  fill();
  { OtherProgram last{store_.database()}; }
  ASSERT_FALSE(fs::exists(log_.path()));
  expect_nothing_missing();
}

TEST_F(MissingCommits, AreNotMissedInACopyOfTheFile) {
  fill();
  { OtherProgram last{store_.database()}; }
  fs::copy_file(store_.database(), store_.folder() / "copy.db");
  fs::remove_all(folder());
  fs::rename(store_.folder() / "copy.db", store_.database());
  expect_nothing_missing();
}

TEST_F(MissingCommits, AreNotMissedAfterARestore) {
  fill();
  auto copy = (store_.folder() / "copy.db").string();
  ok({"backup", copy});
  add({"mail"});
  ok({"restore", "--force", copy});
  expect_nothing_missing();
}

TEST_F(MissingCommits, AreReasonEnoughToRestore) {
  fill();
  auto copy = (store_.folder() / "copy.db").string();
  ok({"backup", copy});
  EXPECT_EQ(cli({"restore", copy}).ending.code, 1) << "a store that can be used";
  log_.zero(in_the_middle(), 4096);
  expect_read_only();
  ok({"restore", copy});
  expect_nothing_missing();
}

TEST_F(MissingCommits, LeaveAStoreThatCanBeLookedAtAndSaysWhy) {
  fill();
  log_.zero(in_the_middle(), 4096);
  auto status = json({"queue", "recovery-status"}).at(0);
  EXPECT_EQ(status.at("run_level"), "read-only");
  EXPECT_THAT(std::string{status.at("reason").as_string()}, HasSubstr("--accept-loss"));
  EXPECT_THAT(ok({"queue", "recovery-status"}), HasSubstr("run level: read-only: "));
  auto report = json({"queue", "recovery-report"}).at(0).at("start_up").as_object();
  EXPECT_EQ(report.at("level"), "read-only");
  EXPECT_EQ(report.at("reason"), status.at("reason"));
  EXPECT_THAT(report.at("losses").as_array(), Not(IsEmpty()));
  EXPECT_THAT(ok({"queue", "metrics"}), HasSubstr("} 1\n"));
  auto seen = tasks();
  auto copy = (store_.folder() / "copy.db").string();
  EXPECT_EQ(json({"backup", copy}).at(0).at("tasks"), seen) << "what is left can be saved";
}

}  // namespace
}  // namespace holdfast::test
