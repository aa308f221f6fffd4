#include <csignal>

#include "batches/batch_crash.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::test {
namespace {

/// Every place where a process that has to do with batches can die, but for those where it would
/// not matter what kind of work it does.
std::vector<std::string_view> points() {
  constexpr std::string_view parts[] = {"batch", "handler", "bury", "reclaim", "clear", "blob"};
  std::vector<std::string_view> found;
  for (auto name : kill_point_names)
    if (std::ranges::any_of(parts, [&](auto part) { return name.starts_with(part); }))
      found.push_back(name);
  return found;
}

bool begins(std::string_view name, std::string_view with) { return name.starts_with(with); }

class BatchKillPoints : public BatchCrash, public testing::WithParamInterface<std::string_view> {
 protected:
  /// By what the point is reached.
  std::string mode() const {
    if (begins(GetParam(), "batch_before_commit") || begins(GetParam(), "batch_after_commit"))
      return "submit";
    for (auto part : {"bury", "reclaim", "clear"})
      if (begins(GetParam(), part)) return "recover";
    return "work";
  }

  void set() {
    auto id = submit(20, {"ms=20"});
    if (mode() != "recover") return;
    auto worker = start("work");
    ASSERT_TRUE(comes_to_begin(id));
    worker.kill();
  }

  void die() {
    auto victim = start(mode(), {"until_empty=1"}, {{"HOLDFAST_KILL_AT", std::string{GetParam()}}});
    auto ending = victim.wait();
    ASSERT_TRUE(ending) << "hangs";
    ASSERT_EQ(ending->signal, SIGKILL) << GetParam() << " was not reached\n" << victim.err();
  }
};

TEST_P(BatchKillPoints, DyingThereLosesNoRowAndEndsNoneTwice) {
  ASSERT_NO_FATAL_FAILURE(set());
  ASSERT_NO_FATAL_FAILURE(die());
  ASSERT_NO_FATAL_FAILURE(set());
  ASSERT_NO_FATAL_FAILURE(die());
  work_it_off();
  expect_conserved();
}

INSTANTIATE_TEST_SUITE_P(Every, BatchKillPoints, testing::ValuesIn(points()),
                         [](const auto& point) { return std::string{point.param}; });

using BatchKills = BatchCrash;

TEST_F(BatchKills, TheRowsOfADeadWorkerRunElsewhereAtOnce) {
  auto id = submit(40, {"ms=100"});
  auto victim = start("work");
  ASSERT_TRUE(comes_to_begin(id));
  auto heir = start("work");
  victim.kill();
  // Far below the minute after which a silent worker would be given up.
  EXPECT_TRUE(eventually([&] { return record(id).done_at.has_value(); }, std::chrono::seconds{30}));
  heir.signal(SIGTERM);
  EXPECT_TRUE(heir.wait()->ok());
  EXPECT_THAT(heir.err(), testing::ContainsRegex("line [0-9]+ of batch " + id.text()))
      << "the log names what was taken back";
  EXPECT_THAT(heir.err(), testing::Not(testing::HasSubstr("task 0000")));
  expect_conserved();
}

TEST_F(BatchKills, ASummaryWhoseWritersDieFollowsAtOnce) {
  auto id = submit(3);
  for (int deaths = 0; deaths < 4; ++deaths) {
    auto victim = start("work", {}, {{"HOLDFAST_KILL_AT", "batch_before_files"}});
    auto ending = victim.wait();
    ASSERT_TRUE(ending) << "hangs";
    ASSERT_EQ(ending->signal, SIGKILL) << victim.err();
  }
  ASSERT_EQ(record(id).rows.open(), 0);
  ASSERT_FALSE(record(id).done_at);
  auto heir = start("work");
  // A matter of a second; it was a minute when a summary was taken for the cause of these deaths.
  EXPECT_TRUE(eventually([&] { return record(id).done_at.has_value(); }, std::chrono::seconds{30}))
      << heir.err();
  heir.signal(SIGTERM);
  EXPECT_TRUE(heir.wait()->ok());
  expect_conserved();
}

TEST_F(BatchKills, OfManyKillsNoneIsNoticedInTheEnd) {
  auto id = submit(2'000, {"ms=1"});
  std::vector<Process> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(start("work"));
  for (std::size_t kills = 0; kills < 12 && !record(id).done_at; ++kills) {
    auto before = begun(id);
    ASSERT_TRUE(
        eventually([&] { return begun(id) >= before + 60 || record(id).done_at.has_value(); },
                   std::chrono::seconds{60}));
    auto& victim = workers[kills % workers.size()];
    victim.kill();
    victim = start("work");
  }
  EXPECT_TRUE(eventually([&] { return record(id).done_at.has_value(); }, std::chrono::seconds{60}));
  for (auto& worker : workers) worker.signal(SIGTERM);
  for (auto& worker : workers) EXPECT_TRUE(worker.wait()->left()) << worker.err();
  expect_conserved();
}

TEST_F(BatchKills, AZombieWritesNothing) {
  auto id = submit(6, {"ms=300"});
  Words fast{"interval=100", "detection=100"};
  auto zombie = start("work", fast);
  ASSERT_TRUE(comes_to_begin(id));
  zombie.stop();
  // What it holds is taken back by age, which whoever finds nothing else to do does not wait for.
  auto work_on = [&] {
    finish("work", {"until_empty=1", "interval=100", "detection=100"});
    return record(id).done_at.has_value();
  };
  ASSERT_TRUE(eventually(work_on, std::chrono::seconds{90}));
  // Then it goes on where it stood.
  auto before = Batches{engine()}.rows({.batch = id});
  zombie.signal(SIGCONT);
  auto refused = [&] {
    auto lines = read_journals(store_.journals());
    return std::ranges::any_of(lines, [](const auto& line) { return line.said == Said::refused; });
  };
  EXPECT_TRUE(eventually(refused, std::chrono::seconds{30}));
  zombie.signal(SIGTERM);
  EXPECT_TRUE(zombie.wait()->ok());
  auto after = Batches{engine()}.rows({.batch = id});
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i].done_by, before[i].done_by);
  expect_conserved();
}

TEST_F(BatchKills, ARowThatKeepsEndingItsWorkersFailsWithTheEvidence) {
  auto id = submit(10, {"poison=4"});
  for (int tries = 0; tries < 12; ++tries) {
    auto worker = start("work", {"until_empty=1", "concurrency=1"});
    auto ending = worker.wait();
    ASSERT_TRUE(ending);
    if (ending->ok()) break;
    EXPECT_EQ(ending->signal, SIGKILL);
  }
  auto rows = Batches{engine()}.rows({.batch = id, .statuses = {BatchStatus::failed}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].line, 4);
  EXPECT_THAT(rows[0].messages, testing::HasSubstr("died"));
  EXPECT_LE(begun(id), 10 + 4) << "the others were not run again for it";
  expect_conserved(1);
}

TEST_F(BatchKills, SigtermInTheMiddleFinishesWhatIsBegunAndLosesNothing) {
  auto id = submit(50, {"ms=50"});
  auto worker = start("work");
  ASSERT_TRUE(comes_to_begin(id, 3));
  worker.signal(SIGTERM);
  ASSERT_TRUE(worker.wait()->ok());
  auto left = record(id);
  EXPECT_EQ(left.rows[BatchStatus::inprog], 0);
  EXPECT_EQ(left.rows[BatchStatus::success], begun(id)) << "what was begun is done";
  work_it_off();
  EXPECT_EQ(begun(id), 50) << "and nothing was done twice";
  expect_conserved();
}

TEST_F(BatchKills, AnAbortEndsARunningBatchForGood) {
  auto id = submit(50, {"ms=50"});
  auto worker = start("work");
  ASSERT_TRUE(comes_to_begin(id, 3));
  finish("abort", {"batch=" + id.text()});
  auto then = record(id);
  EXPECT_EQ(then.status, BatchStatus::aborted);
  EXPECT_EQ(then.rows.open(), 0);
  worker.signal(SIGTERM);
  ASSERT_TRUE(worker.wait()->ok());
  auto now = record(id);
  EXPECT_EQ(now.rows[BatchStatus::success], then.rows[BatchStatus::success]);
  EXPECT_EQ(now.rows[BatchStatus::aborted], then.rows[BatchStatus::aborted]);
  EXPECT_EQ(now.rows.all(), 50);
  expect_ended_once();
}

}  // namespace
}  // namespace holdfast::test
