#include <csignal>

#include "batches/liveness_scenario.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

class BatchLivenessKillPoints : public BatchLiveness,
                                public testing::WithParamInterface<const char*> {};

TEST_P(BatchLivenessKillPoints, DyingThereLosesNoRowAndEndsNoneTwice) {
  for (int round = 0; round < 2; ++round) {
    submit(20, {"ms=5"});
    auto victim = worker({"until_empty=1"}, {{"HOLDFAST_KILL_AT", GetParam()}});
    auto ending = victim.wait();
    ASSERT_TRUE(ending) << "hangs";
    ASSERT_EQ(ending->signal, SIGKILL) << GetParam() << " was not reached\n" << victim.err();
  }
  work_off();
  expect_conserved();
  EXPECT_TRUE(eventually([&] {
    recover();
    return redis_of_theirs_.registry().empty();
  })) << "the dead are forgotten";
}

INSTANTIATE_TEST_SUITE_P(Every, BatchLivenessKillPoints,
                         testing::Values("liveness_before_track", "liveness_before_untrack",
                                         "liveness_after_track"),
                         [](const auto& point) { return std::string{point.param}; });

/// Recovery of rows that a dead worker of theirs left looks twice, and notes which rows it sees.
/// Then it has two steps, each with its own commit: it claims them for nobody, forgets the dead,
/// and takes them back like all others.
class DyingWhileTheirsAreRecovered : public BatchLiveness,
                                     public testing::WithParamInterface<const char*> {};

TEST_P(DyingWhileTheirsAreRecovered, LosesNoRowAndQueuesNoneTwice) {
  auto batch = theirs_.submit("shop", "price", 6);
  OriginalLiveness dead{redis_.socket_address(), "host-1-1"};
  dead.beat(1ms);
  for (const auto& row : theirs_.fetch(4)) dead.track(row);
  ASSERT_TRUE(eventually([&] { return !dead.is_alive("host-1-1"); }));
  auto victim = start("recover", {"liveness=" + redis_.admin_address(), "interval=200"},
                      {{"HOLDFAST_KILL_AT", GetParam()}});
  auto ending = victim.wait();
  ASSERT_TRUE(ending) << "hangs";
  ASSERT_EQ(ending->signal, SIGKILL) << GetParam() << " was not reached\n" << victim.err();
  auto all_queued = std::string{GetParam()} == "reclaim_after_commit:4";
  EXPECT_EQ(rows_with("inprog"), all_queued ? "0" : "4");
  recover();
  EXPECT_EQ(rows_with("queued"), "6");
  EXPECT_THAT(dead.registry(), IsEmpty()) << "the dead are forgotten";
  EXPECT_EQ(ours().recover().orphans.all(), 0) << "nothing is found twice";
  work_off();
  expect_done(BatchId::parse(batch).value(), 6);
  EXPECT_EQ(begun(BatchId::parse(batch).value()), 6) << "each row once";
}

INSTANTIATE_TEST_SUITE_P(Every, DyingWhileTheirsAreRecovered,
                         testing::Values("reclaim_before_commit:1", "reclaim_after_commit:1",
                                         "reclaim_before_commit:2", "reclaim_after_commit:2",
                                         "reclaim_before_commit:3", "reclaim_after_commit:3",
                                         "reclaim_before_commit:4", "reclaim_after_commit:4"),
                         [](const auto& point) {
                           std::string name{point.param};
                           std::ranges::replace(name, ':', '_');
                           return name;
                         });

}  // namespace
}  // namespace holdfast::test
