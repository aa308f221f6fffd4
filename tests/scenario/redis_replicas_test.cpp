#include <gmock/gmock.h>

#include "scenario/redis_scenario.hpp"

namespace holdfast::test {
namespace {

TEST_F(RedisScenario, AReplicaAloneIsReadOnlyAndSaysWhereToWrite) {
  RedisServer primary, replica;
  enqueue(open(primary.address()), 1);
  replica.call({"REPLICAOF", "127.0.0.1", std::to_string(primary.port())});
  ASSERT_TRUE(eventually([&] { return replica.call({"DBSIZE"}).number() > 0; }));
  auto engine = open(replica.address());
  EXPECT_EQ(Inspector{engine}.count({}), 1);
  try {
    enqueue(engine, 1);
    FAIL() << "it was written";
  } catch (const StoreReadOnly& error) {
    EXPECT_NE(std::string_view{error.what()}.find("name its primary"), std::string_view::npos);
  }
}

TEST_F(RedisScenario, PromotedReplicaIsFound) {
  RedisServer primary, replica;
  replica.call({"REPLICAOF", "127.0.0.1", std::to_string(primary.port())});
  auto address = primary.address() + ",127.0.0.1:" + std::to_string(replica.port());
  auto engine = open(address);
  Settings settings;
  settings.heartbeat.interval = Millis{200};
  CountingWorker worker{address, settings};
  enqueue(engine, 5);
  ASSERT_TRUE(completes(engine, 5));
  ASSERT_TRUE(eventually(
      [&] { return replica.call({"DBSIZE"}).number() == primary.call({"DBSIZE"}).number(); }));
  primary.kill();
  replica.call({"REPLICAOF", "NO", "ONE"});
  ASSERT_TRUE(eventually([&] { return completed(engine) >= 0; }));
  auto before = completed(engine);
  enqueue(engine, 5);
  EXPECT_TRUE(completes(engine, before + 5));
}

TEST_F(RedisScenario, DemotedPrimaryIsLeft) {
  RedisServer before, after;
  after.call({"REPLICAOF", "127.0.0.1", std::to_string(before.port())});
  auto address = before.address() + ",127.0.0.1:" + std::to_string(after.port());
  auto engine = open(address);
  CountingWorker worker{address};
  enqueue(engine, 5);
  ASSERT_TRUE(completes(engine, 5));
  ASSERT_TRUE(eventually(
      [&] { return after.call({"DBSIZE"}).number() == before.call({"DBSIZE"}).number(); }));
  after.call({"REPLICAOF", "NO", "ONE"});
  before.call({"REPLICAOF", "127.0.0.1", std::to_string(after.port())});
  enqueue(engine, 1);  // the one that only replicates now says so, and the other one is asked
  EXPECT_TRUE(completes(engine, 6));
  EXPECT_TRUE(eventually([&] {
    auto clients = after.call({"CLIENT", "LIST"}).string();
    return clients.find("name=holdfast-worker-") != std::string::npos;
  })) << "where the store is, there a death is noticed";
}

TEST_F(RedisScenario, ReplicaThatIsNamedFirstIsPassedBy) {
  RedisServer primary, replica;
  replica.call({"REPLICAOF", "127.0.0.1", std::to_string(primary.port())});
  auto address = replica.address() + ",127.0.0.1:" + std::to_string(primary.port());
  EXPECT_FALSE(holds_store(address));
  auto engine = open(address);
  enqueue(engine, 3);
  EXPECT_TRUE(holds_store(address));
  ASSERT_TRUE(eventually(
      [&] { return replica.call({"DBSIZE"}).number() == primary.call({"DBSIZE"}).number(); }));
  primary.kill();
  EXPECT_EQ(Inspector{engine}.count({}), 3) << "a replica can be looked at";
  EXPECT_THROW(enqueue(engine, 1), StoreError);
}

}  // namespace
}  // namespace holdfast::test
