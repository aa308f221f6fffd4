#include "documents/transaction_timeline.hpp"

#include <gmock/gmock.h>

namespace holdfast {
namespace {

WallTime at(int second) { return WallTime{std::chrono::seconds{second}}; }

std::vector<std::string> lines(const std::vector<TimelineEntry>& timeline) {
  std::vector<std::string> lines;
  for (const auto& each : timeline)
    lines.push_back(each.event + (each.text.empty() ? "" : " " + each.text));
  return lines;
}

TEST(TransactionTimeline, HasMovesAndRecoveriesByTime) {
  const std::vector<StateMove> moves{{"a", "b", "", {}, at(2)}, {"b", "c", "late", {}, at(9)}};
  const std::vector<Transition> transitions{
      {{}, TaskState::pending, "client", "", {}, 0, at(0)},
      {TaskState::pending, TaskState::running, "worker/1", "", {}, 1, at(1)},
      {TaskState::running, TaskState::pending, "system/recovery", "it died", {}, 1, at(3)},
      {TaskState::pending, TaskState::running, "worker/2", "", {}, 2, at(4)},
      {TaskState::running, TaskState::pending, "worker/2", "rests", {}, 2, at(5)},
      {TaskState::pending, TaskState::running, "worker/2", "", {}, 3, at(6)},
      {TaskState::running, TaskState::completed, "worker/2", "", {}, 3, at(10)}};
  EXPECT_THAT(lines(timeline_of(moves, transitions)),
              testing::ElementsAre("transaction_moved a -> b", "transaction_recovering it died",
                                   "transaction_recovered b", "transaction_moved b -> c: late",
                                   "transaction_complete"));
}

TEST(TransactionTimeline, SaysOnceThatItWasAbandoned) {
  const std::vector<StateMove> moves{{"a", "cleaning", "abandoned: nothing came", {}, at(2)},
                                     {"cleaning", "failed", "abandoned: nothing came", {}, at(3)}};
  EXPECT_THAT(
      lines(timeline_of(moves, {})),
      testing::ElementsAre("transaction_moved a -> cleaning: abandoned: nothing came",
                           "transaction_abandoned nothing came",
                           "transaction_moved cleaning -> failed: abandoned: nothing came"));
}

}  // namespace
}  // namespace holdfast
