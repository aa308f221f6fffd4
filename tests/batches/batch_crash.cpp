#include "batches/batch_crash.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <holdfast/inspector.hpp>

#include "batches/batch_store.hpp"

namespace holdfast::test {

Process BatchCrash::start(const std::string& mode, const Words& words, const Environment& extra) {
  Words command{BATCH_DRIVER, mode, "store=" + address_, "journals=" + store_.journals()};
  command.insert(command.end(), words.begin(), words.end());
  return Process{command, extra};
}

std::string BatchCrash::finish(const std::string& mode, const Words& words) {
  auto process = start(mode, words);
  auto ending = process.wait();
  EXPECT_TRUE(ending && ending->ok())
      << mode << " ended badly, signal " << (ending ? ending->signal : -1) << "\n"
      << process.err();
  return process.out();
}

BatchId BatchCrash::submit(int rows, const Words& words) {
  Words all{"rows=" + std::to_string(rows)};
  all.insert(all.end(), words.begin(), words.end());
  auto said = finish("submit", all);
  auto id = BatchId::parse(said.substr(0, said.find('\n'))).value();
  submitted_.emplace_back(id, rows);
  return id;
}

BatchRecord BatchCrash::record(BatchId id) const { return Batches{engine()}.status(id).value(); }

int BatchCrash::begun(BatchId id) const {
  auto lines = read_journals(store_.journals());
  return static_cast<int>(std::ranges::count_if(lines, [&](const JournalLine& line) {
    return line.said == Said::started && line.task == TaskId{id.bytes};
  }));
}

bool BatchCrash::comes_to_begin(BatchId id, int rows) const {
  return eventually([&] { return begun(id) >= rows; }, std::chrono::seconds{60});
}

void BatchCrash::expect_ended_once() const {
  std::map<TaskId, int> ends;
  for (const auto& line : read_journals(store_.journals()))
    if (line.said == Said::settled) ++ends[line.task];
  for (const auto& [unit, count] : ends)
    EXPECT_EQ(count, 1) << (row_of(unit) ? "row " : "summary ") << unit.text();
}

void BatchCrash::expect_rows(const Batches& batches, const BatchRecord& batch) const {
  std::string expected;
  int line = 0;
  for (const auto& row : batches.rows({.batch = batch.id, .limit = 1'000'000})) {
    EXPECT_EQ(row.line, ++line);
    EXPECT_FALSE(row.done_by.empty()) << "line " << line;
    if (row.status != BatchStatus::success) continue;
    EXPECT_EQ(row.result, std::to_string(row.line * 10));
    expected += fmt::format("{}\n", row.line * 10);
  }
  EXPECT_EQ(batches.output(batch.id, "prices"), expected);
}

void BatchCrash::expect_conserved(std::int64_t failed) const {
  auto store = engine();
  Batches batches{store, {.blobs = open_blobs("dir:" + store_.journals() + "/../blobs")}};
  Inspector inspector{store};
  std::int64_t failures = 0;
  for (const auto& batch : batches.list({.limit = 1'000})) {
    SCOPED_TRACE(batch.id.text());
    EXPECT_TRUE(batch.done_at);
    EXPECT_EQ(batch.rows.open(), 0) << "rows are stuck";
    failures += batch.rows[BatchStatus::failed];
    EXPECT_EQ(batch.status,
              batch.rows[BatchStatus::failed] > 0 ? BatchStatus::failed : BatchStatus::success);
    expect_rows(batches, batch);
    EXPECT_TRUE(inspector.task(TaskId{batch.id.bytes})) << "nothing follows its end";
  }
  EXPECT_EQ(failures, failed);
  for (const auto& [id, rows] : submitted_) EXPECT_EQ(record(id).rows.all(), rows);
  EXPECT_EQ(inspector.count({.kind = "priced"}), std::ssize(batches.list({.limit = 1'000})));
  expect_ended_once();
}

}  // namespace holdfast::test
