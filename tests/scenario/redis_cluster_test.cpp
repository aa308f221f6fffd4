#include "scenario/redis_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RedisClusterScenario : public RedisScenario {
 protected:
  /// The address of a store whose home is this node.
  std::string address_at(std::size_t node) {
    prefix_ = "store";
    while (cluster().home_of(prefix_) != node) prefix_ += 'x';
    return cluster().address() + "?prefix=" + prefix_;
  }
  static RedisCluster& cluster() { return shared_redis_cluster(); }
  static bool has_worker(std::size_t node) {
    auto clients = cluster().node(node).call({"CLIENT", "LIST"}).string();
    return clients.find("name=holdfast-worker-") != std::string::npos;
  }
  ~RedisClusterScenario() override { cluster().flush(); }

  std::string prefix_;
};

TEST_F(RedisClusterScenario, StoresSpreadOverTheNodesByTheirPrefixes) {
  for (std::size_t node = 0; node < 3; ++node) {
    auto address = address_at(node);
    auto engine = open(address);
    CountingWorker worker{address};
    enqueue(engine, 10);
    EXPECT_TRUE(completes(engine, 10));
    EXPECT_TRUE(has_worker(node)) << "where the store is, there a death is noticed";
    auto keys = cluster().node(node).call({"KEYS", "{" + prefix_ + "}:*"});
    EXPECT_GT(keys.size(), 10u);
    for (std::size_t other = 0; other < 3; ++other) {
      if (other == node) continue;
      EXPECT_EQ(cluster().node(other).call({"KEYS", "{" + prefix_ + "}:*"}).size(), 0u);
    }
  }
}

TEST_F(RedisClusterScenario, AStoreMovesWhileWorkersRun) {
  auto address = address_at(0);
  auto engine = open(address);
  Settings settings;
  settings.heartbeat.interval = Millis{200};
  CountingWorker worker{address, settings};
  int enqueued = 0;
  auto enqueue_some = [&] {
    for (int i = 0; i < 20; ++i) {
      try {
        enqueue(engine, 5);
        enqueued += 5;
      } catch (const StoreError&) {
        return;  // it is being moved
      }
    }
  };
  for (std::size_t round = 0; round < 3; ++round) {
    auto from = round, to = (round + 1) % 3;
    enqueue_some();
    cluster().move_store(prefix_, from, to, enqueue_some);
    enqueue_some();
    ASSERT_TRUE(completes(engine, enqueued)) << completed(engine) << " of " << enqueued;
    EXPECT_TRUE(eventually([&] { return has_worker(to) && !has_worker(from); }));
  }
  EXPECT_EQ(worker.ran(), enqueued) << "each once";
  EXPECT_THAT(Inspector{engine}.reports(10), IsEmpty()) << "nobody was taken for dead";
  auto integrity = Inspector{engine}.check_integrity(true);
  EXPECT_TRUE(integrity.passed) << integrity.damage.at(0).what;
}

TEST_F(RedisClusterScenario, HalfAStoreIsNotUsed) {
  auto address = address_at(1);
  auto engine = open(address);
  enqueue(engine, 20);
  cluster().move_store(prefix_, 1, 2, [&] {
    try {
      enqueue(engine, 1);
      ADD_FAILURE() << "some of the keys were elsewhere";
    } catch (const StoreError& error) {
      EXPECT_THAT(error.what(), HasSubstr("is being moved"));
    }
  });
  enqueue(engine, 1);
  EXPECT_EQ(Inspector{engine}.count({}), 21);
  cluster().move_store(prefix_, 2, 1);
  EXPECT_EQ(Inspector{engine}.count({}), 21);
}

TEST_F(RedisClusterScenario, AReplicaTakesOverFromANodeThatDies) {
  RedisCluster own;
  prefix_ = "store";
  auto home = own.home_of(prefix_);
  auto& replica = own.add_replica(home);
  auto address = own.whole_address() + "?prefix=" + prefix_;
  auto engine = open(address);
  Settings settings;
  settings.heartbeat.interval = Millis{200};
  CountingWorker worker{address, settings};
  enqueue(engine, 10);
  ASSERT_TRUE(completes(engine, 10));
  auto keys = [](RedisServer& node) { return node.call({"DBSIZE"}).number(); };
  ASSERT_TRUE(eventually([&] { return keys(replica) == keys(own.node(home)); }));
  own.node(home).kill();
  try {
    enqueue(engine, 1);
    FAIL() << "nobody has the store";
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("cannot reach 127.0.0.1:" + std::to_string(own.node(home).port())),
                      Not(HasSubstr("MOVED"))));
  }
  ASSERT_FALSE(replica.call({"CLUSTER", "FAILOVER", "TAKEOVER"}).is_error());
  ASSERT_TRUE(eventually([&] { return completed(engine) >= 0; }, std::chrono::seconds{60}));
  auto before = completed(engine);
  ASSERT_TRUE(eventually([&] {
    try {
      enqueue(engine, 1);
      return true;
    } catch (const StoreError&) {
      return false;  // not all nodes know of it yet
    }
  }));
  EXPECT_TRUE(completes(engine, before + 1));
}

}  // namespace
}  // namespace holdfast::test
