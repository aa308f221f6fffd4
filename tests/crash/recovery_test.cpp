#include <gmock/gmock.h>

#include <csignal>
#include <set>

#include "crash/crash_test.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

/// Recovery itself is what is killed, repeated and crowded here.
class RecoveryCrash : public CrashTest {
 protected:
  /// `count` tasks of a worker that was killed.
  std::vector<TaskId> orphan(int count) {
    auto ids = enqueue(count, {"ms=1", "attempts=100", "batch=1000"});
    auto words = "count=" + std::to_string(count);
    auto hoarder = start("hoard", {words});
    EXPECT_TRUE(eventually([&] { return hoarder.out() == "hoarded\n"; })) << hoarder.err();
    hoarder.kill();
    return ids;
  }

  /// A recovery that dies at the n-th visit of a kill point.
  void recover_and_die_at(const std::string& point) {
    auto victim = start("recover", {}, {{"HOLDFAST_KILL_AT", point}});
    auto ending = victim.wait();
    ASSERT_TRUE(ending && ending->signal == SIGKILL) << point << "\n" << victim.err();
  }

  std::vector<RecoveryReport> reports() const { return Inspector{open_store()}.reports(1'000); }

  /// How often each task is in a report as taken back.
  static std::map<TaskId, int> named_in(const std::vector<RecoveryReport>& reports) {
    std::map<TaskId, int> named;
    for (const auto& report : reports)
      for (const auto& task : report.tasks) named[task.id] += task.success;
    return named;
  }

  void expect_each_in_one_report(const std::vector<TaskId>& ids) const {
    auto named = named_in(reports());
    EXPECT_EQ(named.size(), ids.size());
    for (auto id : ids) EXPECT_EQ(named[id], 1) << id.text();
  }
};

TEST_F(RecoveryCrash, OneThatDiesHalfWayLeavesATrueReportAndTheNextGoesOn) {
  auto ids = orphan(1'200);
  recover_and_die_at("reclaim_after_commit:1");
  auto first = reports();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].state, ReportState::interrupted);
  EXPECT_EQ(first[0].dead_workers.size(), 1u);
  EXPECT_GT(first[0].orphans.taken(), 0);
  EXPECT_LT(first[0].orphans.taken(), 1'200);
  EXPECT_EQ(first[0].orphans.taken(), std::ssize(first[0].tasks));
  EXPECT_EQ(Inspector{open_store()}.count({.states = {TaskState::pending}}),
            first[0].orphans.taken());

  recover_and_die_at("reclaim_after_commit:1");
  EXPECT_EQ(reports().front().state, ReportState::interrupted);
  finish("recover");
  auto all = reports();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all.front().state, ReportState::complete);
  EXPECT_EQ(all.back().state, ReportState::interrupted) << "it stays what it was";
  expect_each_in_one_report(ids);
}

TEST_F(RecoveryCrash, WriteThatAKillCutIsInvisible) {
  auto ids = orphan(20);
  auto before = record(ids[0]);
  recover_and_die_at("reclaim_before_commit");
  auto after = record(ids[0]);
  EXPECT_EQ(after.state, TaskState::running);
  EXPECT_EQ(after.token, before.token);
  EXPECT_EQ(after.recoveries, 0);
  ASSERT_EQ(reports().size(), 1u) << "of the burial, which was committed before";
  EXPECT_EQ(reports()[0].orphans.all(), 0);
  EXPECT_EQ(reports()[0].dead_workers.size(), 1u);
  EXPECT_EQ(finish("recover"), "recovered 20 dead 0\n");
  expect_each_in_one_report(ids);
}

TEST_F(RecoveryCrash, BurialThatAKillCutIsInvisible) {
  orphan(1);
  recover_and_die_at("bury_before_commit");
  EXPECT_TRUE(reports().empty());
  EXPECT_EQ(finish("recover"), "recovered 1 dead 1\n");
}

TEST_F(RecoveryCrash, TenAtOnceTakeEachOrphanOnce) {
  constexpr int count = 3'000;
  auto ids = orphan(count);
  std::vector<Process> recoverers;
  for (int i = 0; i < 10; ++i) recoverers.push_back(start("recover"));
  int recovered = 0, dead = 0;
  for (auto& each : recoverers) {
    auto ending = each.wait();
    ASSERT_TRUE(ending && ending->ok()) << each.err();
    int tasks = 0, workers = 0;
    ASSERT_EQ(std::sscanf(each.out().c_str(), "recovered %d dead %d", &tasks, &workers), 2);
    recovered += tasks;
    dead += workers;
  }
  EXPECT_EQ(recovered, count);
  EXPECT_EQ(dead, 1);
  expect_each_in_one_report(ids);
  for (const auto& report : reports()) EXPECT_EQ(report.state, ReportState::complete);
  for (const auto& [id, steps] : view_store(open_store()).history) EXPECT_EQ(steps.size(), 1u);
}

TEST_F(RecoveryCrash, RepeatedFiveTimesOnlyTheFirstFindsAnything) {
  auto ids = orphan(50);
  EXPECT_EQ(finish("recover"), "recovered 50 dead 1\n");
  auto once = record(ids[7]);
  for (int again = 0; again < 4; ++again) EXPECT_EQ(finish("recover"), "recovered 0 dead 0\n");
  EXPECT_EQ(reports().size(), 1u);
  auto later = record(ids[7]);
  EXPECT_EQ(later.token, once.token);
  EXPECT_EQ(later.recoveries, 1);
}

/// Every place in recovery where it may die, again and again, until it happens to get through.
class RecoveryKillPoints : public RecoveryCrash, public testing::WithParamInterface<const char*> {};

TEST_P(RecoveryKillPoints, DyingThereTwiceInARowLeavesReportsThatAreTrue) {
  auto ids = orphan(700);
  recover_and_die_at(GetParam());
  auto again = start("recover", {}, {{"HOLDFAST_KILL_AT", GetParam()}});
  ASSERT_TRUE(again.wait()) << "hangs";
  finish("recover");
  expect_each_in_one_report(ids);
  std::set<WorkerId> dead;
  for (const auto& report : reports()) {
    EXPECT_NE(report.state, ReportState::running);
    for (const auto& worker : report.dead_workers)
      EXPECT_TRUE(dead.insert(worker.id).second) << "named twice";
  }
  EXPECT_EQ(dead.size(), 1u);
  EXPECT_EQ(finish("recover"), "recovered 0 dead 0\n");
}

INSTANTIATE_TEST_SUITE_P(Every, RecoveryKillPoints,
                         testing::Values("bury_before_commit", "bury_after_commit",
                                         "reclaim_before_commit", "reclaim_before_commit:2",
                                         "reclaim_after_commit", "reclaim_after_commit:2",
                                         "clear_before_files", "clear_after_files",
                                         "report_before_commit", "report_after_commit"),
                         [](const auto& point) {
                           std::string name = point.param;
                           std::ranges::replace(name, ':', '_');
                           return name;
                         });

}  // namespace
}  // namespace holdfast::test
