#include <gmock/gmock.h>

#include <holdfast/holdfast.hpp>

#include "engines/postgres/statements.hpp"
#include "support/postgres_server.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::test {
namespace {

/// Claimed tasks leave dead entries at the beginning of the index of ready tasks until the server
/// cleans it. Here it never does.
class PostgresClaims : public testing::Test {
 protected:
  PostgresClaims() {
    server_.ask("ALTER TABLE " + schema() + ".tasks SET (autovacuum_enabled = false)");
    insert(many);
    worker_ = engine_.parts().workers().enlist({.queues = {}, .kinds = {"job"}});
    request_ = {.worker = worker_->id(), .kinds = {"job"}, .limit = many};
    claimed_ = engine_.parts().tasks().exchange({.claim = request_}).claimed.size();
  }

  std::string schema() const { return address_.substr(address_.rfind('=') + 1); }
  void insert(int count) {
    engine_.parts().tasks().insert(
        std::vector<NewTask>(static_cast<std::size_t>(count), NewTask{"job", "{}"}));
  }
  std::int64_t pages_of_index() {
    return std::stoll(
        server_.ask("SELECT pg_relation_size('" + schema() + ".tasks_ready') / 8192"));
  }
  std::int64_t pages_read() {
    auto row = db_.run("SELECT pg_stat_get_xact_blocks_fetched(to_regclass('hf.tasks_ready'))");
    return row.next() ? row.integer(0) : 0;
  }
  /// Pages of the index that `step` reads, in a transaction that is given up.
  template <class F>
  std::int64_t pages_read_by(F step) {
    db_.run("BEGIN");
    auto before = pages_read();
    step();
    auto after = pages_read();
    db_.run("ROLLBACK");
    return after - before;
  }

  static constexpr int many = 20'000;
  PostgresServer& server_ = PostgresServer::shared();
  std::string address_ = server_.new_store();
  Engine engine_ = open(address_);
  Settings settings_{};
  postgres::Connection db_{std::make_shared<const postgres::Dialect>(
                               postgres::parse_address(address_, settings_), system_clock()),
                           Durability::crash_safe, postgres::Connection::Purpose::steps};
  std::unique_ptr<Enlistment> worker_;
  ClaimRequest request_{};
  std::size_t claimed_ = 0;
};

TEST_F(PostgresClaims, WalkPastWhatWasClaimedOnce) {
  ASSERT_EQ(claimed_, many);
  insert(2);
  request_.limit = 1;
  Exchanged exchanged;
  auto read = pages_read_by([&] {
    postgres::Claiming claiming{request_};
    claiming.queue_look(db_);
    auto results = db_.collect();
    claiming.take(db_, std::move(results[results.size() - 2]), std::move(results.back()),
                  exchanged);
  });
  EXPECT_EQ(exchanged.claimed.size(), 1u);
  constexpr int few = 20;  // from the root of the index to a leaf, a few times
  EXPECT_GT(read, pages_of_index() / 2) << "otherwise there is nothing to walk past";
  EXPECT_LT(read, pages_of_index() + few);
  read = pages_read_by([&] { EXPECT_TRUE(postgres::earliest_due(db_, request_)); });
  EXPECT_LT(read, pages_of_index() + few);
}

}  // namespace
}  // namespace holdfast::test
