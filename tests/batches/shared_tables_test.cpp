#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include <holdfast/batches.hpp>

#include "batches/original_worker.hpp"
#include "support/postgres_server.hpp"
#include "support/process.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

/// Tables that another program made, with its workers beside ours.
class SharedTables : public testing::Test {
 protected:
  SharedTables() {
    static int count = 0;
    schema_ = "shared_" + std::to_string(++count);
    original_ = another();
    original_->make_tables();
    engine_.emplace(
        open(PostgresServer::shared().address("schema=own_" + schema_ + " batches=" + schema_),
             brisk()));
  }

  /// Who looks twice need not wait for long.
  static Settings brisk() {
    Settings settings;
    settings.heartbeat.interval = 200ms;
    return settings;
  }
  std::unique_ptr<OriginalWorker> another() const {
    return std::make_unique<OriginalWorker>(PostgresServer::shared().connection(), schema_);
  }

  /// Ours, which gives every row ten times its line, and notes that it did.
  Batches batches(BatchOptions options = {}) {
    Batches made{*engine_, std::move(options)};
    made.on("shop", "price", [this](const RowAttempt& row) {
      note(row.line);
      return row_done(row.line * 10);
    });
    return made;
  }
  void note(int line) {
    std::lock_guard lock{mutex_};
    done_.insert(line);
  }
  static void work_off(const Batches& batches) {
    Worker{batches.work(), {.concurrency = 2, .until_empty = true}}.run();
  }
  void expect_all_done(const std::string& batch, int rows) {
    auto found = batches().status(BatchId::parse(batch).value()).value();
    EXPECT_EQ(found.status, BatchStatus::success);
    EXPECT_TRUE(found.done_at);
    EXPECT_EQ(found.rows[BatchStatus::success], rows);
    EXPECT_EQ(original_->value("SELECT nsuccess FROM batches WHERE id = $1::uuid", {batch}),
              std::to_string(rows));
    EXPECT_EQ(original_->value("SELECT count(*) FROM batchrows WHERE batch = $1::uuid"
                               " AND res = to_jsonb(line * 10)",
                               {batch}),
              std::to_string(rows));
  }

  std::string schema_;
  std::unique_ptr<OriginalWorker> original_;
  std::optional<Engine> engine_;
  std::mutex mutex_;
  std::multiset<int> done_;  ///< lines, by either side
};

TEST_F(SharedTables, BothSidesWorkOnOneBatchAndNoRowIsDoneTwice) {
  constexpr int rows = 600;
  auto batch = original_->submit("shop", "price", rows);
  std::atomic<int> by_original{0};
  std::thread other{[&] {
    auto worker = another();
    for (auto block = worker->fetch(10); !block.empty(); block = worker->fetch(10)) {
      for (const auto& row : block) {
        note(row.line);
        worker->succeed(row);
        ++by_original;
      }
    }
    // It may find nothing because ours has the batch's rows locked, and looks again later.
    worker->sum_up(batch);
  }};
  auto ours = batches();
  Worker worker{ours.work(), {.concurrency = 2}};
  std::thread working{[&] { worker.run(); }};
  ours.wait(BatchId::parse(batch).value());
  worker.drain();
  working.join();
  other.join();
  EXPECT_EQ(std::ssize(done_), rows);
  EXPECT_EQ(std::ssize(std::set<int>(done_.begin(), done_.end())), rows);
  expect_all_done(batch, rows);
}

TEST_F(SharedTables, TheirsCanFinishWhatIsSubmittedHere) {
  NewBatch given{.app = "shop", .op = "price"};
  for (int line = 1; line <= 5; ++line) given.rows.push_back({line, "{}"});
  auto batch = batches().submit(given).id.text();
  for (const auto& row : original_->fetch(10)) original_->succeed(row);
  EXPECT_TRUE(original_->sum_up(batch));
  expect_all_done(batch, 5);
  work_off(batches());
  EXPECT_TRUE(done_.empty()) << "nothing was left for us";
}

TEST_F(SharedTables, RowsThatTheirDeadLeftAreQueuedAgainWhereThatIsWanted) {
  auto batch = original_->submit("shop", "price", 5);
  ASSERT_EQ(another()->fetch(3).size(), 3u);  // and dies
  work_off(batches());
  EXPECT_EQ(done_.size(), 2u);
  auto careful = batches({.queue_unclaimed_after = 1h});
  careful.recover();
  careful.recover();
  auto in_progress = [&] {
    return original_->value("SELECT count(*) FROM batchrows WHERE status = 'inprog'");
  };
  EXPECT_EQ(in_progress(), "3") << "not known for long enough";
  auto quick = batches({.queue_unclaimed_after = 200ms});
  std::vector<RecoveredTask> named;
  EXPECT_TRUE(eventually([&] {
    named = quick.recover().tasks;
    return in_progress() == "0";
  }));
  ASSERT_EQ(named.size(), 3u);
  EXPECT_THAT(named[0].reason,
              testing::HasSubstr("of batch " + batch + ": It was in progress and nobody"));
  EXPECT_FALSE(named[0].worker);
  EXPECT_TRUE(quick.recover().tasks.empty()) << "each is named once";
  work_off(batches());
  EXPECT_EQ(done_, (std::multiset<int>{1, 2, 3, 4, 5}));
  expect_all_done(batch, 5);
}

TEST_F(SharedTables, ARowIsNotNobodysBecauseTheClockWasSet) {
  PostgresServer clocked{
      PostgresServer::Options{.addresses = {}, .settings = {}, .own_clock = true}};
  OriginalWorker theirs{clocked.connection(), "theirs"};
  theirs.make_tables();
  Batches ours{open(clocked.address("schema=own batches=theirs"), brisk()),
               {.queue_unclaimed_after = 1h}};
  auto in_progress = [&] {
    return theirs.value("SELECT count(*) FROM batchrows WHERE status = 'inprog'");
  };
  theirs.submit("shop", "price", 3);
  auto rows = theirs.fetch(3);
  EXPECT_EQ(ours.recover().waiting, 0) << "seen a moment ago";
  clocked.set_clock(24h);
  EXPECT_EQ(ours.recover().waiting, 3);
  EXPECT_EQ(in_progress(), "3");
  clocked.set_clock(0h);  // seen in the future: the time counts from now on
  for (int looks = 0; looks < 2; ++looks) EXPECT_EQ(ours.recover().waiting, 0);
  clocked.set_clock(2h);
  for (const auto& row : std::span{rows}.first(2)) theirs.succeed(row);
  EXPECT_EQ(ours.recover().waiting, 1);
  EXPECT_EQ(in_progress(), "1");
  EXPECT_TRUE(eventually([&] {
    ours.recover();
    return in_progress() == "0";
  })) << "nobody's by two looks";
}

TEST_F(SharedTables, ARowThatTheirsTookBackByMistakeIsNotWrittenByItsFormerHolder) {
  auto batch = original_->submit("shop", "price", 1);
  std::atomic<int> begun{0};
  std::atomic<bool> go_on{false};
  Batches ours{*engine_};
  ours.on("shop", "price", [&](const RowAttempt& row) {
    if (++begun == 1) eventually([&] { return go_on.load(); }, 60s);
    return row_done(begun == 1 ? 0 : row.line * 10);
  });
  Worker worker{ours.work(), {.concurrency = 1}};
  WorkerSummary summary;
  std::thread working{[&] { summary = worker.run(); }};
  ASSERT_TRUE(eventually([&] { return begun == 1; }, 60s));
  original_->queue_again(original_->value("SELECT rowid FROM batchrows"));
  auto row = original_->fetch(1);
  ASSERT_EQ(row.size(), 1u);
  original_->succeed(row[0]);
  go_on = true;
  ours.wait(BatchId::parse(batch).value());
  worker.drain();
  working.join();
  EXPECT_EQ(summary.refused, 1);
  expect_all_done(batch, 1);
}

TEST_F(SharedTables, ASchemaThatIsNotThereYetIsMadeWithItsTables) {
  auto engine = open(PostgresServer::shared().address("schema=own_new batches=new_" + schema_));
  EXPECT_TRUE(Batches{engine}.submit({.app = "shop", .op = "price", .rows = {{1, "{}"}}}).created);
  EXPECT_EQ(original_->value("SELECT count(*) FROM new_" + schema_ + ".batchrows"), "1");
}

TEST_F(SharedTables, WhileTheirsSumsABatchUpOursWaits) {
  auto batch = original_->submit("shop", "price", 2);
  auto other = another();
  other->begin();
  ASSERT_TRUE(other->lock(batch));
  auto ours = batches();
  Worker worker{ours.work(), {.concurrency = 1}};
  std::thread working{[&] { worker.run(); }};
  auto id = BatchId::parse(batch).value();
  EXPECT_TRUE(eventually([&] { return ours.status(id)->rows.open() == 0; }, 60s));
  // It tries, cannot have the lock, and comes again.
  EXPECT_TRUE(eventually(
      [&] {
        return original_->value("SELECT count(*) FROM own_" + schema_ +
                                ".batch_claims WHERE batchrow = 0 AND owner IS NULL") == "1";
      },
      60s));
  EXPECT_FALSE(ours.status(id)->done_at);
  other->commit();
  EXPECT_TRUE(ours.wait(id).done_at);
  worker.drain();
  working.join();
  expect_all_done(batch, 2);
}

}  // namespace
}  // namespace holdfast::test
