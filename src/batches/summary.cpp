#include "batches/summary.hpp"

#include <fmt/format.h>

#include "batches/unit_result.hpp"
#include "recovery/kill_point.hpp"
#include "tasks/reserved.hpp"

namespace holdfast {

namespace {

/// When the store of blobs is away.
constexpr Millis until_next_try{5'000};
/// When a row is open again, which only a worker of another program can bring about.
constexpr Millis until_rows_are_done{1'000};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n\v\f";
  auto first = text.find_first_not_of(blank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

}  // namespace

BatchStatus status_of(const BatchCounts& rows) {
  if (rows[BatchStatus::aborted] > 0) return BatchStatus::aborted;
  if (rows[BatchStatus::failed] > 0) return BatchStatus::failed;
  return BatchStatus::success;
}

std::optional<NewTask> follow_up_of(const BatchRecord& batch, BatchStatus status) {
  if (batch.then.empty()) return {};
  BatchEnded ended{batch.id.text(), batch.app, batch.op, std::string{to_string(status)}};
  return NewTask{batch.then, to_payload(ended), {.id = TaskId{batch.id.bytes}}};
}

Outcome Summary::make(BatchId batch, Attempt& attempt) {
  auto found = store_.find({.id = batch});
  if (found.empty()) return fail("the batch is gone");
  const auto& record = found.front();
  if (record.rows.open() > 0) return snooze(until_rows_are_done);
  UnitResult result;
  result.status = status_of(record.rows);
  result.counts = record.rows;
  try {
    result.output = names_json(write_files(batch));
  } catch (const BlobError& error) {
    parts_.events().emit(
        StoreTrouble{fmt::format("writing the output of batch {}", batch.text()), error.what()});
    return snooze(until_next_try);
  }
  kill_point(KillPoint::batch_after_files);
  if (auto follow_up = follow_up_of(record, result.status))
    then_own(attempt, std::move(*follow_up));  // its kind was checked when it was submitted
  return Done{.text = pack(result)};
}

std::map<std::string, std::string> Summary::write_files(BatchId batch) {
  std::map<std::string, std::string> contents, keys;
  RowFilter filter{
      .batch = batch, .statuses = {BatchStatus::success, BatchStatus::failed}, .with_output = true};
  for (auto page = store_.rows(filter); !page.empty(); page = store_.rows(filter)) {
    for (const auto& row : page)
      for (const auto& [name, line] : names_from_json(row.output))
        contents[name].append(trimmed(line)).push_back('\n');
    filter.after_line = page.back().line;
    filter.after_row = page.back().id;
  }
  if (contents.empty()) return keys;
  if (!blobs_)
    throw BlobError{"this worker was given no store of blobs, and there are files to write"};
  kill_point(KillPoint::batch_before_files);
  for (const auto& [name, content] : contents) {
    // The same name for whoever comes to write it: what is there already is the same.
    auto key = fmt::format("{}.{}", batch.text(), keys.size() + 1);
    blobs_->put(key, content);
    keys.emplace(name, std::move(key));
  }
  return keys;
}

}  // namespace holdfast
