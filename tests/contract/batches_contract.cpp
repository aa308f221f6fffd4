#include "contract/batches_contract.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "recovery/clock.hpp"
#include "support/process.hpp"

namespace holdfast::test {

// An engine need not keep batches.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BatchesContract);

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

namespace {

struct Item {
  int n = 0;
};
BOOST_DESCRIBE_STRUCT(Item, (), (n))

}  // namespace

BatchesContract::BatchesContract()
    : store_{GetParam().make()},
      engine_{store_->open(Settings{}, system_clock())},
      options_{.blobs = open_blobs("dir:" + (files_.folder() / "blobs").string())},
      batches_{engine_, options_} {}

NewBatch BatchesContract::batch(int rows) {
  NewBatch batch{.app = "shop", .op = "price"};
  for (int line = 1; line <= rows; ++line) batch.rows.push_back({line, to_payload(Item{line})});
  return batch;
}

WorkerSummary BatchesContract::work(const Batches& batches) {
  return Worker{batches.work(), {.concurrency = 3, .until_empty = true}}.run();
}

TEST_P(BatchesContract, RowsAreProcessedAndTheBatchIsSummedUp) {
  auto given = batch(30);
  given.context = R"({"factor": 10})";
  given.then = "priced";
  auto id = batches_.submit(given).id;
  batches_.on<Item>("shop", "price", [](const Item& item, const RowAttempt& row) {
    EXPECT_EQ(parse_json(row.context).at("factor").as_int64(), 10);
    auto result = row_done(Item{item.n * 10});
    result.output["prices.txt"] = fmt::format("  {}\n", item.n * 10);
    if (item.n % 10 != 0) return result;
    result.success = false;
    result.messages.push_back({7, "too_round", "n", {"tens"}});
    return result;
  });
  work(batches_);
  auto ended = batches_.status(id).value();
  EXPECT_EQ(ended.status, BatchStatus::failed);
  EXPECT_EQ(ended.rows[BatchStatus::success], 27);
  EXPECT_EQ(ended.rows[BatchStatus::failed], 3);
  EXPECT_EQ(parse_json(rows_of(id)[1].result).at("n").as_int64(), 20);
  EXPECT_THAT(rows_of(id)[9].messages, HasSubstr("too_round"));
  std::string expected;
  for (int line = 1; line <= 30; ++line) expected += fmt::format("{}\n", line * 10);
  EXPECT_EQ(batches_.output(id, "prices.txt"), expected) << "in the order of the lines";
  EXPECT_FALSE(batches_.output(id, "another.txt"));

  std::vector<BatchEnded> told;
  Tasks tasks{engine_};
  tasks.on<BatchEnded>("priced", [&](const BatchEnded& end, Attempt&) {
    told.push_back(end);
    return done;
  });
  Worker{tasks, {.concurrency = 1, .until_empty = true}}.run();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].batch, id.text());
  EXPECT_EQ(told[0].status, "failed");
}

TEST_P(BatchesContract, WhatAProcessorThrowsFailsTheRow) {
  auto id = batches_.submit(batch(2)).id;
  batches_.on("shop", "price", [](const RowAttempt& row) -> RowResult {
    if (row.line == 2) throw std::runtime_error{"no such article"};
    return {.result = "not JSON"};
  });
  work(batches_);
  auto rows = rows_of(id);
  EXPECT_THAT(rows[0].messages, HasSubstr("not JSON"));
  EXPECT_THAT(rows[1].messages, HasSubstr("no such article"));
  EXPECT_EQ(batches_.status(id)->status, BatchStatus::failed);
  EXPECT_EQ(batches_.status(id)->rows[BatchStatus::failed], 2);
}

TEST_P(BatchesContract, EventsNameTheBatchAndTheLine) {
  std::mutex mutex;
  std::vector<std::string> told;
  engine_.events().subscribe([&](const Event& event) {
    std::lock_guard lock{mutex};
    told.push_back(to_text(event));
  });
  auto id = batches_.submit(batch(2)).id;
  batches_.on<Item>("shop", "price",
                    [](const Item& item, const RowAttempt&) { return row_done(item); });
  work(batches_);
  EXPECT_THAT(told, Contains(HasSubstr("line 2 of batch " + id.text() + " (shop/price) running")));
  EXPECT_THAT(told, Contains(HasSubstr("the summary of batch " + id.text())));
  EXPECT_THAT(told, Not(Contains(HasSubstr("task 0000"))));
}

TEST_P(BatchesContract, ResultsMayHoldWhatDatabasesDislike) {
  auto id = batches_.submit(batch(3)).id;
  batches_.on("shop", "price", [](const RowAttempt& row) -> RowResult {
    if (row.line == 1) return {.result = R"({"zero": "\u0000", "slashes": "\\u0000"})"};
    if (row.line == 2) throw std::runtime_error{std::string{"a zero \0 and \xff", 14}};
    return {};
  });
  work(batches_);
  auto rows = rows_of(id);
  EXPECT_EQ(rows[0].status, BatchStatus::success);
  EXPECT_THAT(rows[0].result, HasSubstr(R"(\\u0000)"));
  EXPECT_EQ(rows[1].status, BatchStatus::failed);
  EXPECT_EQ(rows[2].status, BatchStatus::success);
  EXPECT_EQ(rows[2].result, "");
}

TEST_P(BatchesContract, AnInitialiserMakesWhatItsProcessorsShare) {
  std::atomic<int> calls{0};
  batches_.initialise("shop", [&]() -> std::any { return ++calls * 100; });
  batches_.on("shop", "price", [](const RowAttempt& row) {
    return row_done(std::any_cast<int>(row.state) + row.line);
  });
  auto id = batches_.submit(batch(20)).id;
  work(batches_);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(rows_of(id)[4].result, "105");
}

TEST_P(BatchesContract, RowsOfAnApplicationThatCannotBeInitialisedAreLeftToOtherWorkers) {
  options_.max_attempts = 1;
  Batches batches{engine_, options_};
  std::atomic<bool> licensed{false};
  batches.initialise("shop", [&]() -> std::any {
    if (!licensed) throw std::runtime_error{"no licence"};
    return 0;
  });
  batches.on("shop", "price", [](const RowAttempt&) { return RowResult{}; });
  auto told = std::make_shared<std::atomic<int>>(0);
  engine_.events().subscribe([told](const Event& event) {
    const auto* paused = std::get_if<KindPaused>(&event);
    *told += paused && paused->why.find("no licence") != std::string::npos;
  });
  auto id = batches.submit(batch(2)).id;
  Worker worker{batches.work(), {.concurrency = 2, .until_empty = true}};
  std::thread working{[&] { worker.run(); }};
  EXPECT_TRUE(eventually([&] { return *told > 0; }, 60s));
  EXPECT_EQ(batches_.status(id)->rows[BatchStatus::failed], 0) << "no attempt was charged";
  licensed = true;
  EXPECT_EQ(batches_.wait(id).status, BatchStatus::success);
  working.join();
  EXPECT_EQ(*told, 1) << "the rows of one claim are one failure";
}

TEST_P(BatchesContract, ASlowQueryIsABatchOfOne) {
  auto id = batches_.submit_query("shop", "price", R"({"n": 4})");
  batches_.on<Item>("shop", "price",
                    [](const Item& item, const RowAttempt&) { return row_done(item.n + 1); });
  work(batches_);
  auto rows = rows_of(id);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].line, 0);
  EXPECT_EQ(rows[0].result, "5");
  EXPECT_EQ(batches_.status(id)->status, BatchStatus::success);
}

TEST_P(BatchesContract, OneWhoWaitsIsToldOfTheProgressAndTheEnd) {
  batches_.on("shop", "price", [](const RowAttempt&) { return RowResult{}; });
  auto id = batches_.submit(batch(50)).id;
  Worker worker{batches_.work(), {.concurrency = 2}};
  std::thread working{[&] { worker.run(); }};
  int told = 0;
  auto ended = batches_.wait(id, [&](const BatchRecord&) { ++told; });
  worker.drain();
  working.join();
  EXPECT_EQ(ended.status, BatchStatus::success);
  EXPECT_EQ(ended.rows[BatchStatus::success], 50);
  EXPECT_GE(told, 1);
  EXPECT_THROW(batches_.wait(BatchId::make()), InvalidRequest);
}

TEST_P(BatchesContract, AnAbortStopsWhatRunsAndItsLateResultsAreRefused) {
  std::atomic<int> running{0}, stopped{0};
  batches_.on("shop", "price", [&](const RowAttempt& row) {
    ++running;
    eventually([&] { return row.stop.stop_requested(); }, 60s);
    stopped += row.stop.stop_requested();
    return row_done("late");
  });
  auto id = batches_.submit(batch(10)).id;
  Worker worker{batches_.work(), {.concurrency = 2}};
  WorkerSummary summary;
  std::thread working{[&] { summary = worker.run(); }};
  EXPECT_TRUE(eventually([&] { return running == 2; }, 60s));
  EXPECT_TRUE(batches_.abort(id));
  EXPECT_TRUE(eventually([&] { return stopped == 2; }, 60s));
  worker.drain();
  working.join();
  EXPECT_EQ(summary.completed, 0);
  auto ended = batches_.status(id).value();
  EXPECT_EQ(ended.status, BatchStatus::aborted);
  EXPECT_EQ(ended.rows[BatchStatus::aborted], 10);
  EXPECT_FALSE(batches_.abort(id));
}

TEST_P(BatchesContract, AWorkerThatDrainsFinishesWhatIsBegunAndGivesBackTheRest) {
  std::atomic<int> begun{0};
  std::atomic<bool> go_on{false};
  batches_.on("shop", "price", [&](const RowAttempt&) {
    ++begun;
    eventually([&] { return go_on.load(); }, 60s);
    return row_done(1);
  });
  auto id = batches_.submit(batch(10)).id;
  Worker worker{batches_.work(), {.concurrency = 2}};
  std::thread working{[&] { worker.run(); }};
  EXPECT_TRUE(eventually([&] { return begun == 2; }, 60s));
  worker.drain();
  go_on = true;
  working.join();
  auto left = batches_.status(id).value();
  EXPECT_EQ(left.rows[BatchStatus::success], begun);
  EXPECT_EQ(left.rows[BatchStatus::queued], 10 - begun);
  EXPECT_EQ(left.rows[BatchStatus::inprog], 0);
  work(batches_);
  EXPECT_EQ(batches_.status(id)->rows[BatchStatus::success], 10);
}

TEST_P(BatchesContract, ARowWithOutputIsLeftToAWorkerThatHasAStoreForIt) {
  Batches without{engine_};
  std::atomic<int> begun = 0;
  without.on("shop", "price", [&](const RowAttempt&) {
    ++begun;
    RowResult result;
    result.output["a"] = "b";
    return result;
  });
  auto told = std::make_shared<std::atomic<bool>>(false);
  engine_.events().subscribe([told](const Event& event) {
    const auto* trouble = std::get_if<StoreTrouble>(&event);
    if (trouble && trouble->why.find("--output") != std::string::npos) *told = true;
  });
  auto id = without.submit(batch(1)).id;
  Worker worker{without.work(), {.concurrency = 1}};
  std::jthread working{[&] { worker.run(); }};
  EXPECT_TRUE(eventually([&] { return *told && rows_of(id)[0].status == BatchStatus::queued; }));
  worker.drain();
  working.join();
  EXPECT_EQ(begun, 1) << "not again and again";
  EXPECT_EQ(batches_.status(id)->rows[BatchStatus::failed], 0);
}

TEST_P(BatchesContract, WhatCannotBeIsRefusedWithAReason) {
  auto refused = [&](NewBatch given, const std::string& why) {
    try {
      batches_.submit(given);
      ADD_FAILURE() << "accepted, although " << why;
    } catch (const InvalidRequest& error) {
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  };
  auto given = batch(2);
  given.op = "Price";
  refused(given, "lower case");
  given = batch(2);
  given.app = "a/b";
  refused(given, "slash");
  given = batch(2);
  given.rows[1].input = "{";
  refused(given, "line 2: not JSON");
  given = batch(2);
  given.rows[1].line = 1;
  refused(given, "line 1 is there twice");
  given = batch(2);
  given.rows[0].line = 0;
  refused(given, "slow query");
  given = batch(0);
  refused(given, "without rows");
  given = batch(1);
  given.context = "nonsense";
  refused(given, "the context is not JSON");
  auto id = batches_.submit(batch(1)).id;
  EXPECT_THROW(batches_.append(id, {{2, "1"}}), InvalidRequest);
  EXPECT_THROW(batches_.append(BatchId::make(), {{2, "1"}}), InvalidRequest);
}

}  // namespace holdfast::test
