#include <gmock/gmock.h>

#include <atomic>

#include <fmt/format.h>
#include <holdfast/state_machine.hpp>

#include "contract/ledger_contract.hpp"
#include "engines/postgres/engine.hpp"
#include "engines/redis/ledger.hpp"
#include "engines/sqlite/engine.hpp"
#include "support/postgres_server.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

/// A store whose ledgers are in Redis.
class WithRedis : public EngineUnderTest {
 public:
  std::shared_ptr<EngineParts> open(const Settings& settings, const Clock& clock) override {
    auto parts = open_store(settings, clock);
    keep_ledgers_in(Engine{parts}, ledgers_);
    return parts;
  }
  virtual std::shared_ptr<EngineParts> open_store(const Settings& settings, const Clock& clock) = 0;

 private:
  static inline std::atomic<int> stores = 0;
  std::string ledgers_ =
      fmt::format("{}?prefix=ledgers-{}", shared_lasting_redis().address(), ++stores);
};

class SqliteWithRedis final : public WithRedis {
 public:
  std::shared_ptr<EngineParts> open_store(const Settings& settings, const Clock& clock) override {
    return sqlite::open_store(store_.database(), settings, clock);
  }

 private:
  TempStore store_;
};

class PostgresWithRedis final : public WithRedis {
 public:
  std::shared_ptr<EngineParts> open_store(const Settings& settings, const Clock& clock) override {
    auto own = settings;
    auto address = postgres::parse_address(address_, own);
    return postgres::open_store(address, own, clock);
  }

 private:
  std::string address_ = PostgresServer::shared().new_store();
};

const EngineCase sqlite_ledger{"SqliteWithRedis",
                               [] { return std::make_unique<SqliteWithRedis>(); }};
const EngineCase postgres_ledger{"PostgresWithRedis",
                                 [] { return std::make_unique<PostgresWithRedis>(); }};

INSTANTIATE_TEST_SUITE_P(Contract, LedgerContract, testing::Values(sqlite_ledger, postgres_ledger),
                         case_name);

/// What is so only where the ledger is outside.
class OutsideLedger : public LedgerContract {
 protected:
  static std::int64_t keys() { return shared_lasting_redis().call({"DBSIZE"}).number(); }
  static void lose_everything() { shared_lasting_redis().call({"FLUSHALL"}); }
  /// An hour passes for the ledgers.
  static void let_all_become_old() {
    auto& server = shared_lasting_redis();
    auto found = server.call({"KEYS", "*:ledgers:*"});
    for (std::size_t i = 0; i < found.size(); ++i) {
      auto names = server.call({"ZRANGE", found[i].string(), "0", "-1"});
      for (std::size_t j = 0; j < names.size(); ++j)
        server.call({"ZADD", found[i].string(), "1", names[j].string()});
    }
  }
  void SetUp() override { lose_everything(); }
};
INSTANTIATE_TEST_SUITE_P(Contract, OutsideLedger, testing::Values(sqlite_ledger), case_name);

TEST_P(OutsideLedger, TheStoreHasOneLineOfIt) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  record(claimed, {{"s", 1, "x"}, {"s", 2, "y"}});
  EXPECT_EQ(transactions().ledger(id).size(), 1u);
  EXPECT_EQ(lines(id).size(), 2u);
}

TEST_P(OutsideLedger, OneThatIsLostIsNotTakenForAnEmptyOne) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  auto ledger = held(claimed);
  ledger.record(writing(claimed, {{"s", 1, "x"}}));
  lose_everything();
  EXPECT_THROW(ledger.lines(), LedgerLost);
  EXPECT_THROW(ledger.recorded("s", 1), LedgerLost);
  EXPECT_THROW(ledger.record(writing(claimed, {{"s", 2, "y"}})), LedgerLost);
  EXPECT_THROW(held(claimed).lines(), LedgerLost);
  EXPECT_THROW(lines(id), LedgerLost);
  EXPECT_TRUE(ledger.replace(writing(claimed, {{"s", 1, "x"}})).accepted);
  EXPECT_EQ(lines(id).size(), 1u);
  lose_everything();
  EXPECT_TRUE(held(claimed).forget(writing(claimed, {})).accepted);
  EXPECT_TRUE(lines(id).empty());
}

TEST_P(OutsideLedger, AFormerHolderMayStillBeTheFirstUntilTheNextHasLooked) {
  auto id = insert("a");
  auto first = enlist();
  auto stale = claim_one(first);
  auto late = held(stale);
  late.record(writing(stale, {{"s", 1, "x"}}));
  auto current = taken_over(stale, first);
  EXPECT_FALSE(late.record(writing(stale, {{"s", 2, "late"}})).accepted) << "it is told";
  EXPECT_EQ(held(current).recorded("s", 2), "late") << "and was the first";
  EXPECT_FALSE(late.record(writing(stale, {{"s", 3, "too late"}})).accepted);
  EXPECT_THAT(record(current, {{"s", 2, "mine"}}).recorded, testing::ElementsAre("late"));
  EXPECT_EQ(lines(id).size(), 2u);
}

TEST_P(OutsideLedger, WhereItBeganItStays) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  auto outside = transactions().outside();
  transactions().keep_ledgers_in(nullptr);
  record(claimed, {{"s", 1, "x"}});
  transactions().keep_ledgers_in(outside);
  record(claimed, {{"s", 2, "y"}});
  EXPECT_EQ(transactions().ledger(id).size(), 2u);
  EXPECT_EQ(keys(), 0);
}

TEST_P(OutsideLedger, WhoDoesNotKnowWhereItIsDoesNothing) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  record(claimed, {{"s", 1, "x"}});
  transactions().keep_ledgers_in(nullptr);
  EXPECT_THROW(record(claimed, {{"s", 2, "y"}}), StoreUnusable);
  EXPECT_THROW(held(claimed).lines(), StoreUnusable);
  EXPECT_EQ(lines(id).size(), 1u);
}

TEST_P(OutsideLedger, OnlyWhatNoTransactionHasIsSwept) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  record(claimed, {{"s", 1, "x"}});
  // Whoever died before he could tell the store.
  transactions().outside()->begin(LedgerName::make(id), claimed.lease.token);
  transactions().outside()->begin(LedgerName::make(TaskId::make()), claimed.lease.token);
  EXPECT_EQ(remove_stray_ledgers(transactions()), 0) << "they may be told of in a moment";
  let_all_become_old();
  EXPECT_EQ(remove_stray_ledgers(transactions()), 2);
  EXPECT_EQ(lines(id).size(), 1u);
  EXPECT_EQ(keys(), 2) << "the ledger, and the list of ledgers";
  // It goes with its task.
  complete(claimed);
  clock().advance(std::chrono::hours{24 * 30});
  ASSERT_EQ(engine().admin().prune(Settings::Retention{}), 1);
  let_all_become_old();
  EXPECT_EQ(remove_stray_ledgers(transactions()), 1);
  EXPECT_EQ(keys(), 0);
}

TEST_P(OutsideLedger, AnotherStoresAreLeftAlone) {
  auto id = insert("a");
  record(claim_one(enlist()), {{"s", 1, "x"}});
  const Engine stranger{sqlite::open_store(TempStore{}.database(), Settings{}, clock())};
  auto& server = shared_lasting_redis();
  auto name = server.call({"KEYS", "*:ledgers:*"})[0].string();
  auto prefix = name.substr(1, name.find('}') - 1);
  keep_ledgers_in(stranger, fmt::format("{}?prefix={}", server.address(), prefix));
  let_all_become_old();
  EXPECT_EQ(remove_stray_ledgers(stranger.parts().transactions()), 0);
  EXPECT_EQ(lines(id).size(), 1u);
}

TEST_P(OutsideLedger, AServerThatMayLoseLinesIsRefused) {
  auto volatile_one = shared_redis().address();
  EXPECT_THROW(keep_ledgers_in(shared_engine(), volatile_one), StoreUnusable);
  keep_ledgers_in(shared_engine(), volatile_one, Stay::brief);
  insert("a");
  EXPECT_THROW(record(claim_one(enlist()), {{"s", 1, "x"}}), StoreUnusable);
  EXPECT_THROW(keep_ledgers_in(shared_engine(), "sqlite:file"), ConfigError);
}

}  // namespace
}  // namespace holdfast::test
