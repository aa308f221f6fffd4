#include <csignal>

#include <fmt/ranges.h>

#include "batches/liveness_scenario.hpp"

namespace holdfast::test {

namespace {

int stores = 0;

}  // namespace

std::string liveness_schema() { return "alya_" + std::to_string(stores); }

std::string BatchCrash::new_address(const TempStore&) {
  ++stores;
  OriginalWorker{PostgresServer::shared().connection(), liveness_schema()}.make_tables();
  return PostgresServer::shared().address("schema=own_" + liveness_schema() +
                                          " batches=" + liveness_schema());
}

namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

TEST_F(BatchLiveness, ADeadWorkerOfTheirsIsRecoveredStepByStepAsTheyDo) {
  auto batch = theirs_.submit("shop", "price", 20);
  auto id = BatchId::parse(batch).value();
  OriginalLiveness victim{redis_.socket_address(), "host-1234-1234567890"};
  auto block = theirs_.fetch(10);
  ASSERT_EQ(block.size(), 10u);
  victim.beat();
  for (const auto& row : block) victim.track(row);
  for (std::size_t i = 0; i < 5; ++i) {
    theirs_.succeed(block[i]);
    victim.untrack(block[i]);
  }
  // It crashes here. Its heartbeat is still there.
  EXPECT_THAT(victim.rows_of("host-1234-1234567890"), SizeIs(5));
  recover();
  EXPECT_EQ(rows_with("inprog"), "5") << "it may live";
  EXPECT_THAT(victim.registry(), testing::Contains("host-1234-1234567890"));
  victim.beat(1ms);
  ASSERT_TRUE(eventually([&] { return !victim.is_alive("host-1234-1234567890"); }));
  recover();
  EXPECT_EQ(rows_with("inprog"), "0");
  EXPECT_EQ(rows_with("queued"), "15");
  EXPECT_EQ(rows_with("success"), "5") << "what was done stays so";
  EXPECT_THAT(victim.rows_of("host-1234-1234567890"), IsEmpty());
  EXPECT_THAT(victim.registry(), IsEmpty());
  EXPECT_EQ(theirs_.value("SELECT status FROM batches"), "inprog") << "the batch stays as it is";
  work_off();
  expect_done(id, 20);
  EXPECT_EQ(begun(id), 15) << "and the others once";
}

TEST_F(BatchLiveness, AHeartbeatThatTheClockOfRedisEndedIsNotADeath) {
  RedisServer clocked{RedisServer::Options{.own_clock = true}};
  OriginalLiveness theirs{clocked.socket_address(), "host-1-1"};
  theirs_.submit("shop", "price", 3);
  for (const auto& row : theirs_.fetch(3)) theirs.track(row);
  theirs.beat();
  auto batches = recoverer(clocked);
  for (auto ahead : {100s, 200s, 100s}) {  // the rows are believed for three minutes
    clocked.set_clock(ahead);
    batches.recover();
    EXPECT_EQ(rows_with("inprog"), "3");
    theirs.beat();
    EXPECT_TRUE(eventually([&] { return batches.recover().waiting == 0; }));
    EXPECT_THAT(theirs.registry(), testing::Contains("host-1-1"));
  }
  EXPECT_EQ(rows_with("inprog"), "3");
  theirs.beat(1ms);
  EXPECT_TRUE(eventually([&] {
    batches.recover();
    return rows_with("queued") == "3";
  })) << "one that stays silent is dead";
}

TEST_F(BatchLiveness, ADeadWorkerOfOursIsRecoveredByTheirs) {
  auto id = submit(20, {"ms=50"});
  auto victim = worker();
  ASSERT_TRUE(comes_to_begin(id, 4));
  auto instance = only_instance();
  EXPECT_TRUE(redis_of_theirs_.is_alive(instance));
  // What it claims is told in the next moment, not in the same.
  ASSERT_TRUE(eventually([&] {
    victim.stop();
    if (fmt::format("{}", fmt::join(redis_of_theirs_.rows_of(instance), ",")) ==
        theirs_.value("SELECT string_agg(rowid::text, ',' ORDER BY rowid::text) FROM batchrows"
                      " WHERE status = 'inprog'"))
      return true;
    victim.signal(SIGCONT);
    return false;
  }));
  victim.kill();
  ASSERT_TRUE(eventually([&] { return !redis_of_theirs_.is_alive(instance); }));
  EXPECT_EQ(redis_of_theirs_.recover(theirs_), 1);
  EXPECT_EQ(rows_with("inprog"), "0") << "it was told of all that were in progress";
  auto taken_over = theirs_.fetch(10);
  for (const auto& row : taken_over) redis_of_theirs_.track(row);
  redis_of_theirs_.beat();
  recover();
  EXPECT_EQ(rows_with("inprog"), std::to_string(taken_over.size()))
      << "what they have taken over is theirs";
  for (const auto& row : taken_over) theirs_.succeed(row);
  theirs_work_off(id.text());
  recover();
  work_off();
  expect_done(id, 20);
}

TEST_F(BatchLiveness, RedisIsFlushedStoppedAndStartedAgainAndNothingStops) {
  auto id = submit(600, {"ms=10"});
  std::vector<Process> workers;
  for (int i = 0; i < 2; ++i) workers.push_back(worker());
  auto both_say_so = [&] {
    OriginalLiveness look{redis_.socket_address(), "nobody"};
    return eventually([&] { return look.registry().size() == 2; }, 60s);
  };
  EXPECT_TRUE(both_say_so());
  redis_.call({"FLUSHALL"});
  EXPECT_TRUE(both_say_so()) << "at the next heartbeat everything is there again";
  auto instance = *OriginalLiveness{redis_.socket_address(), "nobody"}.registry().begin();
  EXPECT_TRUE(eventually([&] {
    return !OriginalLiveness{redis_.socket_address(), "nobody"}.rows_of(instance).empty();
  })) << "the rows, too";
  redis_.kill();
  auto before = begun(id);
  ASSERT_TRUE(comes_to_begin(id, before + 50)) << "it is not missed";
  workers[0].kill();
  workers[0] = worker();
  ASSERT_TRUE(comes_to_begin(id, before + 100)) << "not even by one that starts";
  redis_.start();
  ASSERT_TRUE(ends(id));
  for (auto& one : workers) one.signal(SIGTERM);
  for (auto& one : workers) EXPECT_TRUE(one.wait()->left()) << one.err();
  expect_conserved();
}

TEST_F(BatchLiveness, WhenEverybodyWasAwayForLongerThanRedisRemembersRowsAreFoundInTheTables) {
  auto batch = theirs_.submit("shop", "price", 4);
  OriginalLiveness victim{redis_.socket_address(), "host-1-1"};
  victim.beat(1ms);
  for (const auto& row : theirs_.fetch(2)) victim.track(row, 1ms);
  auto id = submit(10, {"ms=100"});
  auto ours_too = worker();
  ASSERT_TRUE(comes_to_begin(id, 2));
  ours_too.kill();
  redis_.call({"FLUSHALL"});
  ASSERT_NE(rows_with("inprog"), "0");
  auto last = worker();
  EXPECT_TRUE(ends(id));
  EXPECT_TRUE(ends(BatchId::parse(batch).value()));
  last.signal(SIGTERM);
  EXPECT_TRUE(last.wait()->ok());
  expect_done(BatchId::parse(batch).value(), 4);
  expect_done(id, 10);
}

TEST_F(BatchLiveness, RowsOfTheLivingAreLeftAloneHoweverLongTheyTake) {
  theirs_.submit("shop", "price", 2);
  for (const auto& row : theirs_.fetch(1)) redis_of_theirs_.track(row);
  redis_of_theirs_.beat();
  // Believed for six of its heartbeats, of which many are over when this one has done the other.
  auto id = submit(120, {"ms=50"});
  auto busy = worker();
  ASSERT_TRUE(ends(id));
  EXPECT_EQ(rows_with("inprog"), "1");
  // With nobody who says that it lives, it is given up.
  redis_.call({"FLUSHALL"});
  EXPECT_TRUE(eventually([&] { return rows_with("inprog") == "0"; }, 60s));
  busy.signal(SIGTERM);
  EXPECT_TRUE(busy.wait()->ok());
}

TEST_F(BatchLiveness, AZombieWritesNothingAfterTheirsDidItsRows) {
  auto id = submit(6, {"ms=300"});
  auto zombie = worker();
  ASSERT_TRUE(comes_to_begin(id));
  auto instance = only_instance();
  ASSERT_TRUE(eventually([&] { return !redis_of_theirs_.rows_of(instance).empty(); }));
  zombie.stop();
  ASSERT_TRUE(eventually([&] { return !redis_of_theirs_.is_alive(instance); }));
  redis_of_theirs_.recover(theirs_);
  theirs_work_off(id.text());
  zombie.signal(SIGCONT);
  auto refused = [&] {
    auto lines = read_journals(store_.journals());
    return std::ranges::any_of(lines, [](const auto& line) { return line.said == Said::refused; });
  };
  EXPECT_TRUE(eventually(refused, 60s));
  zombie.signal(SIGTERM);
  EXPECT_TRUE(zombie.wait()->ok());
  expect_done(id, 6);
  EXPECT_EQ(theirs_.value("SELECT count(*) FROM batchrows WHERE res IS NULL"), "0");
}

TEST_F(BatchLiveness, SigtermInABlockKeepsTheHeartbeatUntilTheLastRowIsWritten) {
  auto id = submit(10, {"ms=2000"});
  auto leaving = worker();
  ASSERT_TRUE(comes_to_begin(id, 2));
  auto instance = only_instance();
  ASSERT_TRUE(eventually([&] { return redis_of_theirs_.rows_of(instance).size() >= 2; }));
  leaving.signal(SIGTERM);
  // Without more heartbeats it would be gone after 400 ms; the rows take two seconds.
  auto still_there = [&] {
    return redis_of_theirs_.is_alive(instance) || rows_with("inprog") == "0";
  };
  EXPECT_FALSE(eventually([&] { return !still_there(); }, 1500ms));
  EXPECT_TRUE(leaving.wait()->ok());
  EXPECT_EQ(rows_with("inprog"), "0");
  EXPECT_FALSE(redis_of_theirs_.is_alive(instance));
  EXPECT_THAT(redis_of_theirs_.registry(), IsEmpty());
  EXPECT_THAT(redis_of_theirs_.rows_of(instance), IsEmpty());
}

TEST_F(BatchLiveness, AnAbortIsToldAtOnceAndItsRowsAreNotHeldAnyMore) {
  auto id = submit(20, {"ms=500"});
  auto busy = worker();
  ASSERT_TRUE(comes_to_begin(id, 2));
  auto instance = only_instance();
  ASSERT_TRUE(eventually([&] { return !redis_of_theirs_.rows_of(instance).empty(); }));
  EXPECT_TRUE(ours().abort(id));
  EXPECT_EQ(redis_of_theirs_.cached(id.text(), "STATUS"), "aborted");
  EXPECT_TRUE(eventually([&] { return redis_of_theirs_.rows_of(instance).empty(); }, 60s));
  busy.signal(SIGTERM);
  EXPECT_TRUE(busy.wait()->ok());
  auto then = record(id);
  EXPECT_EQ(then.rows[BatchStatus::aborted] + then.rows[BatchStatus::success], 20);
  EXPECT_EQ(theirs_.value("SELECT naborted FROM batches"),
            std::to_string(then.rows[BatchStatus::aborted]));
}

TEST_F(BatchLiveness, BothSidesReadWhatTheOtherSaysAboutABatch) {
  auto id = submit(3, {"poison=0"});
  EXPECT_EQ(ours().glance(id), BatchStatus::queued);
  EXPECT_EQ(redis_of_theirs_.cached(id.text(), "STATUS"), "queued");
  EXPECT_LE(redis_of_theirs_.seconds_left(id.text(), "STATUS"), 60);
  redis_of_theirs_.cache_status(id.text(), "inprog");
  EXPECT_EQ(ours().glance(id), BatchStatus::inprog);
  auto query = ours().submit_query("shop", "price", R"({"n": 7, "ms": 0, "manner": ""})");
  work_off();
  EXPECT_EQ(redis_of_theirs_.cached(id.text(), "STATUS"), "success");
  EXPECT_GT(redis_of_theirs_.seconds_left(id.text(), "STATUS"), 5'900);
  EXPECT_LE(redis_of_theirs_.seconds_left(id.text(), "SUMMARY"), 6'000);
  auto key = record(id).output_files.at("prices");
  EXPECT_EQ(redis_of_theirs_.cached(id.text(), "SUMMARY"),
            R"({"status":"success","outputFiles":{"prices":")" + key +
                R"("},"nsuccess":3,"nfailed":0,"naborted":0})");
  EXPECT_EQ(redis_of_theirs_.cached(id.text(), "OUTFILES"), R"({"prices":")" + key + R"("})");
  EXPECT_EQ(redis_of_theirs_.cached(query.text(), "RESULT"), "70");
  EXPECT_EQ(ours().glance(query), BatchStatus::success);
  redis_.kill();
  EXPECT_EQ(ours().glance(id), BatchStatus::success) << "the tables know";
}

TEST(BatchLivenessInACluster, KeysAreWhereTheirTagsBelongAndAllAreFoundWithoutASearch) {
  auto& cluster = shared_redis_cluster();
  auto liveness = open_liveness(cluster.node(0).admin_address());
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back("host-" + std::to_string(i));
  for (const auto& name : names) {
    liveness->beat(name, {}, {});
    liveness->track(name, std::vector<std::int64_t>{1, 2, 3}, std::vector<std::int64_t>{2}, {});
  }
  int nodes_used = 0;
  for (std::size_t node = 0; node < 3; ++node)
    nodes_used += cluster.node(node).call({"DBSIZE"}).number() > 0;
  EXPECT_EQ(nodes_used, 3);
  auto peers = liveness->peers();
  EXPECT_EQ(peers.size(), names.size());
  for (const auto& peer : peers) {
    EXPECT_TRUE(peer.alive);
    EXPECT_THAT(peer.rows, UnorderedElementsAre(1, 3));
  }
  BatchRecord batch{.id = BatchId::make(), .status = BatchStatus::inprog};
  liveness->cache(batch, {});
  EXPECT_EQ(liveness->cached(batch.id), BatchStatus::inprog);
  for (const auto& name : names) liveness->leave(name);
  EXPECT_THAT(liveness->peers(), IsEmpty());
  for (std::size_t node = 0; node < 3; ++node) {
    auto used = cluster.node(node).call({"INFO", "commandstats"}).string();
    EXPECT_EQ(used.find("cmdstat_scan"), used.npos);
    EXPECT_EQ(used.find("cmdstat_keys"), used.npos);
  }
}

}  // namespace
}  // namespace holdfast::test
