#include "recovery/roster.hpp"

#include <gmock/gmock.h>

#include "recovery/clock.hpp"
#include "recovery/remains_json.hpp"

namespace holdfast {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

const Proof alive{Proof::Of::life, "lock held", "its lock is still held"};
const Proof dead{Proof::Of::death, "lock released", "its lock is free", "session 7"};
const Proof unknown{.seen = "no lock", .cause = "it has no lock"};

RosterRow silent_row() {
  RosterRow row;
  row.past_its_time = true;
  row.silent = seconds{95};
  return row;
}

TEST(Roster, ProofDecidesWhateverTheAge) {
  auto seen = judge(silent_row(), dead);
  EXPECT_TRUE(seen.proven_dead);
  EXPECT_FALSE(seen.stale);
  EXPECT_EQ(seen.status.state, WorkerState::dead);
  EXPECT_EQ(seen.status.cause, "its lock is free");
  EXPECT_EQ(seen.status.proof, "lock released");
  EXPECT_EQ(seen.witness, "session 7");
  EXPECT_TRUE(judge(RosterRow{}, dead).proven_dead);
}

TEST(Roster, WithoutProofOfDeathTheAgeDecides) {
  for (const auto& proof : {alive, unknown}) {
    auto seen = judge(silent_row(), proof);
    EXPECT_TRUE(seen.stale);
    EXPECT_FALSE(seen.proven_dead);
    EXPECT_EQ(seen.status.state, WorkerState::running);
    EXPECT_EQ(seen.status.cause, "silent for 95 s; " + proof.cause);
    auto young = judge(RosterRow{}, proof);
    EXPECT_FALSE(young.stale);
    EXPECT_EQ(young.status.cause, "");
  }
  auto ahead = silent_row();
  ahead.ahead = true;
  EXPECT_TRUE(judge(ahead, unknown).ahead);
  EXPECT_EQ(judge(ahead, unknown).status.cause,
            "its lease ends in the future: the clock was set back; it has no lock");
}

TEST(Roster, ABurialStands) {
  auto row = silent_row();
  row.buried = true;
  row.status.state = WorkerState::dead;
  row.status.cause = "as it was found then";
  for (bool proven : {false, true}) {
    row.proven = proven;
    auto seen = judge(row, alive);
    EXPECT_TRUE(seen.buried);
    EXPECT_FALSE(seen.stale);
    EXPECT_EQ(seen.proven_dead, proven);
    EXPECT_EQ(seen.status.cause, "as it was found then");
    EXPECT_TRUE(judge(row, dead).proven_dead);
  }
}

TEST(Roster, RemainsAreThoseOfTheBurialOrOnTheBoard) {
  RosterRow row;
  row.remains.emplace().readable = true;
  row.remains->running = {{TaskId::make(), Token{7}}};
  EXPECT_FALSE(remains_of(row, "/no/such/file").readable) << "it is not buried";
  row.buried = true;
  EXPECT_THAT(remains_of(row, "/no/such/file").running, ElementsAre(row.remains->running[0]));
  row.remains.reset();
  row.boot = "another boot";
  EXPECT_FALSE(remains_of(row, "/no/such/file").machine_restarted) << "it was on another host";
  row.here = true;
  EXPECT_TRUE(remains_of(row, "/no/such/file").machine_restarted);
  row.boot = unknown_boot;
  EXPECT_FALSE(remains_of(row, "/no/such/file").machine_restarted);
}

TEST(Roster, BootsThatAreNotKnownProveNoRestart) {
  EXPECT_EQ(boot_of("boot-1/4026531834"), "boot-1");
  EXPECT_EQ(boot_of("boot-1"), "boot-1");
  EXPECT_TRUE(restarted_between("boot-1", "boot-2"));
  EXPECT_FALSE(restarted_between("boot-1", "boot-1"));
  EXPECT_FALSE(restarted_between("boot-1", unknown_boot));
  EXPECT_FALSE(restarted_between(unknown_boot, "boot-1"));
}

TEST(Roster, TextsOfAStoreAreReadAsTheyWereWritten) {
  WorkerProfile profile{{"mail"}, {"welcome", "bye"}, 7, Millis{90'000}, Millis{5'000}};
  WorkerStatus status;
  read_profile(profile_json(profile), status);
  EXPECT_THAT(status.queues, ElementsAre("mail"));
  EXPECT_THAT(status.kinds, ElementsAre("welcome", "bye"));
  EXPECT_EQ(status.concurrency, 7);
  EXPECT_EQ(status.heartbeat_interval, Millis{5'000});
  const std::vector<TaskId> ids{TaskId::make(), TaskId::make()};
  EXPECT_EQ(ids_from_json(ids_json(ids)), ids);

  Remains remains;
  remains.readable = true;
  remains.running = {runs_elsewhere, {ids[0], Token{1}}};
  auto read = remains_from_json(remains_json(remains));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->readable);
  EXPECT_FALSE(read->machine_restarted);
  EXPECT_EQ(read->running, remains.running);
  EXPECT_TRUE(read->elsewhere());
}

TEST(Roster, TextsThatAreNotOursSayNothing) {
  for (const char* text : {"", "{", "[]", "7", R"({"queues": 7, "concurrency": "x"})",
                           R"({"readable": true, "restarted": false, "running": [["x", 1]]})",
                           R"({"readable": true, "restarted": false, "running": [[]]})"}) {
    WorkerStatus status;
    read_profile(text, status);
    EXPECT_THAT(status.queues, IsEmpty());
    EXPECT_THAT(ids_from_json(text), IsEmpty());
    EXPECT_FALSE(remains_from_json(text)) << text;
  }
  EXPECT_THAT(ids_from_json(R"(["x", 7, null])"), IsEmpty());
}

}  // namespace
}  // namespace holdfast
