#include "contract/batch_store_contract.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace holdfast::test {

// An engine need not keep batches.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BatchStoreContract);

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

NewBatch BatchStoreContract::batch(int rows) {
  NewBatch batch{.app = "shop", .op = "price"};
  for (int line = 1; line <= rows; ++line)
    batch.rows.push_back({line, fmt::format("{{\"n\": {}}}", line)});
  return batch;
}

ClaimRequest BatchStoreContract::units(WorkerId worker, int limit) {
  return {.worker = worker, .kinds = {"shop/price"}, .limit = limit, .max_suspects = 1};
}

std::vector<Claimed> BatchStoreContract::claim_units(WorkerId worker, int limit) {
  return batches().exchange({}, units(worker, limit)).claimed;
}

Settled BatchStoreContract::end(const UnitEnd& end) {
  return batches().exchange(std::span{&end, 1}, {}).settled.at(0);
}

Settled BatchStoreContract::succeed(const Claimed& unit, const std::string& result) {
  return end({.lease = unit.lease, .result = result});
}

void BatchStoreContract::do_all_rows(WorkerId worker) {
  for (const auto& unit : claim_units(worker)) EXPECT_EQ(succeed(unit), Settled::accepted);
}

UnitEnd BatchStoreContract::summary(const Claimed& unit, std::int64_t successes) {
  UnitEnd end{.lease = unit.lease};
  end.counts[BatchStatus::success] = successes;
  return end;
}

Verdict BatchStoreContract::run_again(const Lease& lease) {
  Verdict verdict;
  verdict.lease = lease;
  verdict.attempt = 1;
  return verdict;
}

BatchRecord BatchStoreContract::found(BatchId id) {
  auto all = batches().find({.id = id});
  if (all.size() != 1) throw std::runtime_error{"no such batch"};
  return all.front();
}

std::vector<RowRecord> BatchStoreContract::rows_of(BatchId id) {
  return batches().rows({.batch = id});
}

TEST_P(BatchStoreContract, WhatWasSubmittedIsThereAfterARestart) {
  auto given = batch(3);
  given.context = R"({"currency": "EUR"})";
  given.then = "priced";
  given.file = BatchFile{"prices.csv", 100, "sha256:00", "text/csv"};
  auto id = submit(given);
  reopen();
  auto read = found(id);
  EXPECT_EQ(read.app, "shop");
  EXPECT_EQ(read.op, "price");
  EXPECT_EQ(read.status, BatchStatus::queued);
  EXPECT_EQ(read.context, given.context);
  EXPECT_EQ(read.then, "priced");
  EXPECT_EQ(read.input_file, "prices.csv");
  EXPECT_EQ(read.submitted_at, clock().wall());
  EXPECT_EQ(read.rows[BatchStatus::queued], 3);
  EXPECT_FALSE(read.done_at);
  auto rows = rows_of(id);
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_EQ(rows[1].line, 2);
  EXPECT_EQ(rows[1].input, R"({"n": 2})");
}

TEST_P(BatchStoreContract, AFileIsTakenOnce) {
  auto given = batch(1);
  given.file = BatchFile{"a.csv", 1, "sha256:11", "text/csv"};
  auto first = batches().insert(BatchId::make(), given);
  given.file->name = "the-same-under-another-name.csv";
  auto second = batches().insert(BatchId::make(), given);
  EXPECT_TRUE(first.created);
  EXPECT_FALSE(second.created);
  EXPECT_EQ(second.id, first.id);
  given.op = "stock";  // is another use of the same content
  EXPECT_TRUE(batches().insert(BatchId::make(), given).created);
}

TEST_P(BatchStoreContract, RowsAreClaimedWithWhatTheirProcessorNeeds) {
  auto id = submit(batch(2));
  auto worker = enlist();
  auto claimed = claim_units(worker);
  ASSERT_THAT(claimed, SizeIs(2));
  EXPECT_EQ(claimed[0].kind, "shop/price");
  EXPECT_EQ(claimed[0].attempt, 1);
  auto unit = unpack_unit(claimed[0].payload);
  EXPECT_EQ(unit.batch, id);
  EXPECT_EQ(unit.line, 1);
  EXPECT_EQ(unit.input, R"({"n": 1})");
  EXPECT_EQ(found(id).status, BatchStatus::inprog);
  EXPECT_EQ(found(id).rows[BatchStatus::inprog], 2);
  EXPECT_EQ(rows_of(id)[0].done_by, worker.text());
}

TEST_P(BatchStoreContract, NobodyGetsWhatHeDidNotAskFor) {
  auto given = batch(2);
  given.op = "stock";
  submit(given);
  EXPECT_THAT(claim_units(enlist()), IsEmpty());
}

TEST_P(BatchStoreContract, TwoWorkersShareABatchAndNoRow) {
  submit(batch(4));
  auto first = claim_units(enlist(), 2);
  auto second = other().batch_store()->exchange({}, units(enlist(), 10)).claimed;
  EXPECT_THAT(first, SizeIs(2));
  EXPECT_THAT(second, SizeIs(2));
  EXPECT_NE(first[0].lease.id, second[0].lease.id);
}

TEST_P(BatchStoreContract, AShortBatchDoesNotWaitForALongOne) {
  submit(batch(50));
  auto query = batch(1);
  query.rows[0].line = 0;
  auto short_one = submit(query);
  auto claimed = claim_units(enlist(), 10);
  EXPECT_THAT(claimed, SizeIs(10));
  EXPECT_TRUE(std::ranges::any_of(
      claimed, [&](const Claimed& unit) { return unpack_unit(unit.payload).batch == short_one; }));
}

TEST_P(BatchStoreContract, ABatchThatWaitsIsNotBegun) {
  auto given = batch(1);
  given.wait = true;
  auto id = submit(given);
  auto worker = enlist();
  EXPECT_THAT(claim_units(worker), IsEmpty());
  std::vector<BatchRow> more{{2, R"({"n": 2})"}, {3, R"({"n": 3})"}};
  EXPECT_EQ(batches().append(id, more, false), Appended::accepted);
  EXPECT_THAT(claim_units(worker), IsEmpty());
  EXPECT_EQ(batches().append(id, {}, true), Appended::accepted);
  EXPECT_THAT(claim_units(worker), SizeIs(3));
  EXPECT_EQ(batches().append(id, more, false), Appended::does_not_wait) << "not any more";
  EXPECT_EQ(found(id).rows.all(), 3);
  EXPECT_EQ(batches().append(BatchId::make(), more, true), Appended::does_not_wait)
      << "there is no such batch";
}

TEST_P(BatchStoreContract, NoLineIsThereTwice) {
  auto given = batch(2);
  given.wait = true;
  auto id = submit(given);
  std::vector<BatchRow> overlapping{{3, "{}"}, {2, "{}"}}, further{{3, "{}"}, {4, "{}"}};
  EXPECT_EQ(batches().append(id, overlapping, true), Appended::line_is_there);
  EXPECT_EQ(found(id).rows.all(), 2);
  EXPECT_EQ(found(id).status, BatchStatus::wait);
  EXPECT_EQ(batches().append(id, further, false), Appended::accepted);
  EXPECT_EQ(batches().append(id, further, false), Appended::line_is_there);
  EXPECT_EQ(found(id).rows.all(), 4);
}

TEST_P(BatchStoreContract, ResultsAreKept) {
  auto id = submit(batch(2));
  auto claimed = claim_units(enlist());
  clock().advance(1s);
  EXPECT_EQ(
      end({.lease = claimed[0].lease, .result = R"({"price": 3})", .output = R"({"list": "3"})"}),
      Settled::accepted);
  EXPECT_EQ(
      end({.lease = claimed[1].lease, .to = BatchStatus::failed, .messages = R"([{"msgid": 1}])"}),
      Settled::accepted);
  auto rows = rows_of(id);
  EXPECT_EQ(rows[0].status, BatchStatus::success);
  EXPECT_EQ(rows[0].result, R"({"price": 3})");
  EXPECT_EQ(rows[0].output, R"({"list": "3"})");
  EXPECT_EQ(rows[0].done_at, clock().wall());
  EXPECT_EQ(rows[1].status, BatchStatus::failed);
  EXPECT_EQ(rows[1].messages, R"([{"msgid": 1}])");
  EXPECT_EQ(rows[1].result, "");
  EXPECT_THAT(batches().rows({.batch = id, .statuses = {BatchStatus::failed}}), SizeIs(1));
  EXPECT_THAT(batches().rows({.batch = id, .with_output = true}), SizeIs(1));
  EXPECT_EQ(batches().rows({.batch = id, .after_line = 1, .after_row = rows[0].id})[0].line, 2);
}

TEST_P(BatchStoreContract, LongTextsAreCutAndTellTheirSizes) {
  auto given = batch(1);
  given.rows[0].input = R"({"a": "0123456789"})";
  given.context = R"({"b": "0123456789"})";
  auto id = submit(given);
  auto row = batches().rows({.batch = id, .longest_text = 5}).at(0);
  EXPECT_EQ(row.input, R"({"a":)");
  EXPECT_EQ(row.input_bytes, given.rows[0].input.size());
  EXPECT_EQ(row.result_bytes, 0u);
  EXPECT_EQ(rows_of(id).at(0).input, given.rows[0].input);
  auto found = batches().find({.id = id, .longest_text = 5}).at(0);
  EXPECT_EQ(found.context, R"({"b":)");
  EXPECT_EQ(found.context_bytes, given.context.size());
  EXPECT_EQ(batches().find({.id = id}).at(0).context, given.context);
}

TEST_P(BatchStoreContract, PagesOfBatchesGoOnAfterTheLast) {
  std::vector<BatchId> made;
  for (int i = 0; i < 3; ++i) {
    made.push_back(submit(batch(1)));
    clock().advance(1s);
  }
  auto second = batches().find({.limit = 1, .after = made[2]});
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].id, made[1]);
  EXPECT_THAT(batches().find({.after = made[0]}), IsEmpty());
  EXPECT_THAT(batches().find({.after = BatchId::make()}), IsEmpty());
}

TEST_P(BatchStoreContract, ABatchIsSummedUpOnceAndOnlyWhenNoRowIsOpen) {
  auto given = batch(2);
  given.then = "priced";
  auto id = submit(given);
  auto worker = enlist();
  auto rows = claim_units(worker);
  succeed(rows[0]);
  EXPECT_THAT(claim_units(worker), IsEmpty()) << "a row is still in progress";
  succeed(rows[1]);
  auto claimed = claim_units(worker);
  ASSERT_THAT(claimed, SizeIs(1));
  EXPECT_FALSE(row_of(claimed[0].lease.id));
  EXPECT_EQ(batch_of_summary(claimed[0].lease.id), id);
  EXPECT_THAT(claim_units(enlist()), IsEmpty()) << "somebody is at it";
  auto ending = summary(claimed[0], 2);
  ending.output = R"({"list": "key"})";
  ending.follow_ups = {{"a", "{}", {.id = TaskId{id.bytes}}}};
  EXPECT_EQ(end(ending), Settled::accepted);
  EXPECT_EQ(end(ending), Settled::refused);
  auto ended = found(id);
  EXPECT_EQ(ended.status, BatchStatus::success);
  EXPECT_EQ(ended.done_at, clock().wall());
  EXPECT_EQ(ended.output_files.at("list"), "key");
  EXPECT_EQ(state(TaskId{id.bytes}), TaskState::pending);
  EXPECT_THAT(claim_units(worker), IsEmpty());
  EXPECT_FALSE(batches().next_due(units(worker)));
}

TEST_P(BatchStoreContract, ASummaryIsClaimedBeforeTheRowsOfOtherBatches) {
  auto worker = enlist();
  submit(batch(10));
  for (const auto& unit : claim_units(worker, 3)) succeed(unit);
  auto finished = submit(batch(1));
  for (const auto& unit : claim_units(worker, 2)) succeed(unit);
  auto first = claim_units(worker, 1).at(0).lease.id;
  ASSERT_FALSE(row_of(first)) << "a row of the long batch came first";
  EXPECT_EQ(batch_of_summary(first), finished);
}

TEST_P(BatchStoreContract, AnEmptyBatchThatIsReleasedIsReadyToBeSummedUp) {
  NewBatch given{.app = "shop", .op = "price", .wait = true};
  auto id = submit(given);
  batches().append(id, {}, true);
  auto claimed = claim_units(enlist());
  ASSERT_THAT(claimed, SizeIs(1));
  EXPECT_EQ(end(summary(claimed[0], 0)), Settled::accepted);
  EXPECT_EQ(found(id).status, BatchStatus::success);
}

TEST_P(BatchStoreContract, WhoLostARowCannotWriteIt) {
  auto id = submit(batch(1));
  auto zombie = enlist();
  auto before = claim_units(zombie).at(0);
  die_and_be_buried(zombie);
  ASSERT_TRUE(reclaim(run_again(before.lease)));
  EXPECT_EQ(found(id).rows[BatchStatus::queued], 1);
  EXPECT_EQ(succeed(before, "\"late\""), Settled::refused) << "while nobody has it";
  auto after = claim_units(enlist()).at(0);
  EXPECT_GT(after.lease.token, before.lease.token);
  EXPECT_EQ(after.attempt, 2);
  EXPECT_EQ(succeed(before, "\"late\""), Settled::refused) << "while another has it";
  EXPECT_EQ(succeed(after, "\"right\""), Settled::accepted);
  EXPECT_EQ(succeed(before, "\"late\""), Settled::refused) << "after another has ended it";
  EXPECT_EQ(rows_of(id)[0].result, "\"right\"");
  EXPECT_EQ(engine().reports().totals().stale_writes_refused, 3);
}

TEST_P(BatchStoreContract, AnAbortEndsWhatIsNotDone) {
  auto id = submit(batch(3));
  auto worker = enlist();
  auto claimed = claim_units(worker, 2);
  succeed(claimed[0]);
  NewTask follow_up{"a", "{}", {.id = TaskId{id.bytes}}};
  EXPECT_TRUE(other().batch_store()->abort(id, std::span{&follow_up, 1}));
  EXPECT_EQ(batches().renew(std::span{&claimed[1].lease, 1}, 90s)[0], Renewal::lost);
  EXPECT_EQ(succeed(claimed[1]), Settled::refused);
  auto ended = found(id);
  EXPECT_EQ(ended.status, BatchStatus::aborted);
  EXPECT_EQ(ended.rows[BatchStatus::success], 1);
  EXPECT_EQ(ended.rows[BatchStatus::aborted], 2);
  EXPECT_TRUE(ended.done_at);
  EXPECT_EQ(state(TaskId{id.bytes}), TaskState::pending);
  EXPECT_FALSE(batches().abort(id, {})) << "it has ended";
  EXPECT_THAT(claim_units(worker), IsEmpty());
  EXPECT_THAT(batches().orphans(10), IsEmpty());
}

TEST_P(BatchStoreContract, ABatchThatWaitsCanBeAborted) {
  auto given = batch(1);
  given.wait = true;
  auto id = submit(given);
  EXPECT_TRUE(batches().abort(id, {}));
  EXPECT_EQ(batches().append(id, {}, true), Appended::does_not_wait);
  EXPECT_EQ(found(id).rows[BatchStatus::aborted], 1);
}

TEST_P(BatchStoreContract, AnAbortWinsOverASummaryThatComesLater) {
  auto id = submit(batch(1));
  auto worker = enlist();
  do_all_rows(worker);
  auto claimed = claim_units(worker).at(0);
  ASSERT_TRUE(batches().abort(id, {}));
  auto ending = summary(claimed, 1);
  ending.follow_ups = {{"a", "{}", {.id = TaskId{id.bytes}}}};
  EXPECT_EQ(end(ending), Settled::refused);
  EXPECT_EQ(found(id).status, BatchStatus::aborted);
  EXPECT_EQ(engine().admin().count({}), 0) << "nothing follows a summary that was refused";
}

TEST_P(BatchStoreContract, WhatIsGivenBackComesAgainWhenItsTimeHasCome) {
  auto id = submit(batch(1));
  auto worker = enlist();
  auto claimed = claim_units(worker).at(0);
  EXPECT_EQ(end({.lease = claimed.lease, .to = BatchStatus::queued, .attempt = 1, .delay = 5s}),
            Settled::accepted);
  EXPECT_EQ(found(id).rows[BatchStatus::queued], 1);
  EXPECT_THAT(claim_units(worker), IsEmpty());
  EXPECT_EQ(batches().next_due(units(worker)), clock().wall() + 5s);
  clock().advance(5s);
  auto again = claim_units(worker).at(0);
  EXPECT_EQ(again.attempt, 2);
  EXPECT_GT(again.lease.token, claimed.lease.token);
  EXPECT_EQ(
      end({.lease = again.lease, .to = BatchStatus::queued, .attempt = 1, .was_attempt = false}),
      Settled::accepted);
  EXPECT_EQ(claim_units(worker).at(0).attempt, 2) << "the one before was not charged";
}

TEST_P(BatchStoreContract, ThereIsNothingDueWhereOthersAreAtIt) {
  submit(batch(1));
  auto worker = enlist();
  EXPECT_EQ(batches().next_due(units(worker)), WallTime{});
  auto row = claim_units(worker).at(0);
  EXPECT_FALSE(batches().next_due(units(worker)));
  succeed(row);
  EXPECT_EQ(batches().next_due(units(worker)), WallTime{}) << "the summary";
  claim_units(worker);
  EXPECT_FALSE(batches().next_due(units(worker)));
}

TEST_P(BatchStoreContract, TheBuriedGetNothing) {
  submit(batch(1));
  auto worker = enlist();
  die_and_be_buried(worker);
  auto answer = batches().exchange({}, units(worker));
  EXPECT_TRUE(answer.buried);
  EXPECT_THAT(answer.claimed, IsEmpty());
}

TEST_P(BatchStoreContract, BatchesAreFoundByWhatTheyAre) {
  auto first = submit(batch(1));
  clock().advance(1s);
  auto given = batch(1);
  given.app = "bank";
  auto second = submit(given);
  auto ids = [&](const BatchFilter& filter) {
    std::vector<BatchId> found;
    for (const auto& one : batches().find(filter)) found.push_back(one.id);
    return found;
  };
  EXPECT_THAT(ids({}), ElementsAre(second, first));
  EXPECT_THAT(ids({.app = "shop"}), ElementsAre(first));
  EXPECT_THAT(ids({.statuses = {BatchStatus::aborted}}), IsEmpty());
  batches().abort(second, {});
  EXPECT_THAT(ids({.statuses = {BatchStatus::aborted}}), ElementsAre(second));
  EXPECT_THAT(ids({.limit = 1}), ElementsAre(second));
}

}  // namespace holdfast::test
