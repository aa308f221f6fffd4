#pragma once

#include <optional>
#include <string>

#include "batches/batch_crash.hpp"
#include "batches/original_liveness.hpp"
#include "support/postgres_server.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {

/// Of the tables of the store at hand.
std::string liveness_schema();

/// Tables that others made and work on, and a Redis in which both sides say that they live.
class BatchLiveness : public BatchCrash {
 protected:
  /// One of ours, in a process of its own. It beats so often that nobody has to wait for minutes.
  Process worker(Words words = {}, const Environment& extra = {}) {
    words.insert(words.end(),
                 {"liveness=" + redis_.admin_address(), "interval=200", "detection=200"});
    return start("work", words, extra);
  }
  void work_off() {
    auto last = worker({"until_empty=1"});
    auto ending = last.wait();
    EXPECT_TRUE(ending && ending->ok()) << last.err();
  }
  /// Ours in this process, which has the constants of the seed.
  Batches ours() const {
    return Batches{engine(), {.liveness = open_liveness(redis_.admin_address())}};
  }
  /// One that looks at who lives, and remembers it for the next look.
  Batches recoverer(const RedisServer& redis) {
    Settings brisk;
    brisk.heartbeat.interval = Millis{200};
    if (!looking_) looking_ = engine(brisk);
    return Batches{*looking_, {.liveness = open_liveness(redis.admin_address())}};
  }
  /// Until nothing waits for a second look.
  void recover() {
    auto batches = recoverer(redis_);
    EXPECT_TRUE(
        eventually([&] { return batches.recover().waiting == 0; }, std::chrono::seconds{60}));
  }
  bool ends(BatchId id) const {
    return eventually([&] { return record(id).done_at.has_value(); }, std::chrono::seconds{60});
  }
  std::string rows_with(const std::string& status) {
    return theirs_.value("SELECT count(*) FROM batchrows WHERE status = $1::status_enum", {status});
  }
  /// The instance under which the only worker that is registered goes.
  std::string only_instance() {
    EXPECT_TRUE(eventually([&] { return redis_of_theirs_.registry().size() == 1; },
                           std::chrono::seconds{60}));
    return *redis_of_theirs_.registry().begin();
  }
  /// Their way to process whatever is queued.
  void theirs_work_off(const std::string& batch) {
    for (auto block = theirs_.fetch(10); !block.empty(); block = theirs_.fetch(10)) {
      for (const auto& row : block) redis_of_theirs_.track(row);
      for (const auto& row : block) {
        theirs_.succeed(row);
        redis_of_theirs_.untrack(row);
      }
    }
    EXPECT_TRUE(theirs_.sum_up(batch));
  }
  void expect_done(BatchId id, int rows) {
    EXPECT_EQ(record(id).status, BatchStatus::success);
    EXPECT_EQ(theirs_.value("SELECT nsuccess FROM batches WHERE id = $1::uuid", {id.text()}),
              std::to_string(rows));
    EXPECT_EQ(theirs_.value("SELECT count(*) FROM batchrows WHERE batch = $1::uuid"
                            " AND res = to_jsonb(line * 10) AND status = 'success'",
                            {id.text()}),
              std::to_string(rows));
  }

  std::optional<Engine> looking_;
  RedisServer redis_;
  OriginalWorker theirs_{PostgresServer::shared().connection(), liveness_schema()};
  OriginalLiveness redis_of_theirs_{redis_.socket_address(), "host-77-1700000000"};
};

}  // namespace holdfast::test
