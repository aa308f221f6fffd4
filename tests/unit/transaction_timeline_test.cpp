#include "documents/transaction_timeline.hpp"

#include <gmock/gmock.h>

#include "recovery/time_text.hpp"

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
  EXPECT_THAT(lines(timeline_of({.moves = moves, .transitions = transitions})),
              testing::ElementsAre("transaction_moved a -> b", "transaction_recovering it died",
                                   "transaction_recovered b", "transaction_moved b -> c: late",
                                   "transaction_complete"));
}

TEST(TransactionTimeline, SaysOnceThatItWasAbandoned) {
  const std::vector<StateMove> moves{{"a", "cleaning", "abandoned: nothing came", {}, at(2)},
                                     {"cleaning", "failed", "abandoned: nothing came", {}, at(3)}};
  EXPECT_THAT(
      lines(timeline_of({.moves = moves})),
      testing::ElementsAre("transaction_moved a -> cleaning: abandoned: nothing came",
                           "transaction_abandoned nothing came",
                           "transaction_moved cleaning -> failed: abandoned: nothing came"));
}

LedgerEntry part(int ordinal, const std::string& stored_at) {
  return {"A", ordinal, R"({"blob":"b","bytes":1,"sha256":"","stored_at":")" + stored_at + "\"}"};
}

TEST(TransactionTimeline, HasThePartsOfAResultThatItsLedgerHas) {
  TransactionSight sight{.ledger = {part(1, "1970-01-01T00:00:03.000Z"),
                                    part(2, "1970-01-01T00:00:01.000Z"),
                                    part(3, "1970-01-01T00:00:01.000Z"),
                                    part(4, ""),
                                    {"A", 5, R"({"blob":"b","bytes":1,"sha256":""})"},
                                    {"notes", 1, "not even JSON"}},
                         .moves = {{"a", "b", "", {}, at(2)}}};
  EXPECT_EQ(timeline_of(sight).size(), 1u) << "other machines have other lines";
  sight.transaction.machine = results::machine_name;
  EXPECT_THAT(
      lines(timeline_of(sight)),
      testing::ElementsAre("ordinal_stored 2 of series 'A'", "ordinal_stored 3 of series 'A'",
                           "transaction_moved a -> b", "ordinal_stored 1 of series 'A'"));
}

TEST(TransactionTimeline, HasOnlyTheLastPartsOfManySoThatMovesAreSeen) {
  TransactionSight sight{.moves = {{"a", "b", "", {}, at(0)}}};
  sight.transaction.machine = results::machine_name;
  for (int i = 1'000; i > 0; --i) sight.ledger.push_back(part(i, iso8601(at(i))));
  const auto timeline = lines(timeline_of(sight));
  ASSERT_EQ(timeline.size(), 101u);
  EXPECT_EQ(timeline.front(), "transaction_moved a -> b");
  EXPECT_EQ(timeline[1], "ordinal_stored 901 of series 'A'");
  EXPECT_EQ(timeline.back(), "ordinal_stored 1000 of series 'A'");
}

}  // namespace
}  // namespace holdfast
