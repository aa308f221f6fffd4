#include "engines/redis/task_record.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace holdfast::redis {

namespace {

constexpr std::size_t records_a_read = 200;

const Command fields{"uk", "v", "y", "u", "x", "e", "j", "gf", "gt"};
constexpr std::size_t belongings = 5;  ///< that are read for each task, beside its row
/// More than tags and numbers take.
constexpr std::size_t before_payload = 4'096;

/// At most so many bytes, and no half of a character.
void cut(std::string& text, std::size_t longest) {
  if (text.size() <= longest) return;
  while (longest > 0 && (static_cast<unsigned char>(text[longest]) & 0xC0) == 0x80) --longest;
  text.resize(longest);
}

void read_unusual(const Value& more, TaskRecord& record) {
  record.unique_key = more[0].string();
  record.recoveries = static_cast<int>(more[1].number());
  record.crashes = static_cast<int>(more[2].number());
  record.suspect = !more[3].is_nil();
  record.cancel_requested = !more[4].is_nil();
  record.error = more[5].string();
  record.cause = more[6].string();
  record.progress = more[7].real();
  record.progress_text = more[8].string();
}

TaskRecord read_record(TaskId id, const RowText& row, std::span<const Reply> belonging) {
  TaskRecord record;
  record.id = id;
  record.state = row.state;
  auto lane = parse_lane(row.lane);
  record.queue = std::move(lane.queue);
  record.kind = std::move(lane.kind);
  record.limit_key = std::move(lane.key);
  record.priority = row.priority;
  record.created_at = row.created_at;
  record.run_at = row.run_at;
  record.token = row.token;
  record.attempt = row.attempt;
  if (!row.worker.empty()) {
    record.worker = WorkerId::parse(row.worker);
    record.claimed_at = wall_time(parse_number(row.claimed_at));
  }
  if (!row.finished_at.empty()) record.finished_at = wall_time(parse_number(row.finished_at));
  record.result = row.result;
  record.result_bytes = record.result.size();
  read_unusual(belonging[0], record);
  auto begin = belonging[1].text();
  auto body = parse_body(begin);
  auto whole_body = static_cast<std::size_t>(belonging[2].number());
  record.payload_bytes = whole_body - (begin.size() - body.payload.size());
  record.max_attempts = body.max_attempts;
  record.timeout = body.timeout;
  record.tags = parse_json_list(body.tags);
  record.payload = std::move(body.payload);
  const auto& waits = belonging[3];
  for (std::size_t i = 0; i < waits.size(); ++i)
    if (auto on = TaskId::parse(waits[i].text())) record.waits_for.push_back(*on);
  std::sort(record.waits_for.begin(), record.waits_for.end());
  if (auto bytes = belonging[4].number(); bytes > 0)
    record.result_bytes = static_cast<std::size_t>(bytes);
  return record;
}

/// A long result is not in the row. There is no command for a part of a field.
void fetch_result(Store& store, TaskRecord& record, std::size_t longest) {
  if (record.result_bytes <= record.result.size()) return;
  auto id = record.id.text();
  if (record.result_bytes <= longest) {
    record.result = store.server.call({"HGET", store.keys.key("t:" + id), "w"}).string();
  } else {
    // One more, to see whether the cut is within a character.
    record.result =
        store.run(scripts::begin_result, store.arguments().add(id).add(longest + 1)).string();
  }
}

}  // namespace

std::optional<RowText> parse_row(const Value& text) {
  if (text.is_nil()) return {};
  return parse_row(text.text());
}

RowText parse_row(std::string_view text) {
  // State, whether there is more, token, attempts, order, not before, worker, claimed at, number of
  // the claim, finished at, result, lane.
  auto parts = split_into<12>(text);
  auto order = parse_number(parts[4]), run_at = parse_number(parts[5]);
  RowText row;
  row.state = static_cast<TaskState>(parse_number(parts[0]));
  row.token = Token{parse_number(parts[2])};
  row.attempt = static_cast<int>(parse_number(parts[3]));
  row.priority = static_cast<int>(order / one_priority);
  row.created_at = wall_time(order % one_priority);
  row.run_at = run_at == 0 ? row.created_at : wall_time(run_at);
  row.worker = parts[6];
  row.claimed_at = parts[7];
  row.finished_at = parts[9];
  row.result = parts[10];
  row.lane = parts[11];
  return row;
}

Command read_rows(const Store& store, std::span<const std::string> ids) {
  Command read{"HMGET", store.keys.key("tasks")};
  read.insert(read.end(), ids.begin(), ids.end());
  return read;
}

Command read_begin_of_body(const Store& store, const std::string& id, std::size_t longest_payload) {
  constexpr auto all = std::numeric_limits<std::int32_t>::max();
  auto last = longest_payload < all ? std::to_string(before_payload + longest_payload) : "-1";
  return {"GETRANGE", store.keys.key("p:" + id), "0", last};
}

std::vector<TaskRecord> read_records(Store& store, std::span<const TaskId> ids,
                                     std::size_t longest_text) {
  std::vector<TaskRecord> records;
  while (!ids.empty()) {
    auto some = ids.first(std::min(ids.size(), records_a_read));
    ids = ids.subspan(some.size());
    std::vector<std::string> names;
    std::vector<Command> reads;
    for (const auto& id : some) {
      names.push_back(id.text());
      Command read{"HMGET", store.keys.key("t:" + names.back())};
      read.insert(read.end(), fields.begin(), fields.end());
      reads.push_back(std::move(read));
      reads.push_back(read_begin_of_body(store, names.back(), longest_text));
      reads.push_back({"STRLEN", store.keys.key("p:" + names.back())});
      reads.push_back({"SMEMBERS", store.keys.key("waits:" + names.back())});
      reads.push_back({"HSTRLEN", store.keys.key("t:" + names.back()), "w"});
    }
    reads.push_back(read_rows(store, names));
    auto replies = store.server.call_all(reads);
    const auto& rows = replies.back();
    for (std::size_t i = 0; i < some.size(); ++i)
      if (auto row = parse_row(rows[i]))
        records.push_back(
            read_record(some[i], *row, std::span{replies}.subspan(belongings * i, belongings)));
  }
  for (auto& record : records) {
    fetch_result(store, record, longest_text);
    cut(record.payload, longest_text);
    cut(record.result, longest_text);
  }
  return records;
}

RecordedTransition parse_history(std::string_view text) {
  auto parts = split(text, 9);
  RecordedTransition row;
  row.transition.from = static_cast<TaskState>(parse_number(parts[0]));
  row.transition.to = static_cast<TaskState>(parse_number(parts[1]));
  row.transition.actor = parts[2];
  row.transition.token = Token{parse_number(parts[3])};
  row.transition.attempt = static_cast<int>(parse_number(parts[4]));
  if (!parts[5].empty()) row.claimed_at = wall_time(parse_number(parts[5]));
  row.worker = WorkerId::parse(parts[6]);
  row.transition.at = wall_time(parse_number(parts[7]));
  row.transition.reason = parts[8];
  return row;
}

std::string history_text(const RecordedTransition& row) {
  const auto [before, after] = history_around_time(row);
  return fmt::format("{}{}{}", before, row.transition.at.time_since_epoch().count(), after);
}

std::pair<std::string, std::string> history_around_time(const RecordedTransition& row) {
  const auto& step = row.transition;
  auto claimed = row.claimed_at ? std::to_string(row.claimed_at->time_since_epoch().count()) : "";
  return {fmt::format("{1}{0}{2}{0}{3}{0}{4}{0}{5}{0}{6}{0}{7}{0}", separator,
                      static_cast<int>(step.from.value_or(TaskState::pending)),
                      static_cast<int>(step.to), step.actor, step.token.value, step.attempt,
                      claimed, row.worker ? row.worker->text() : ""),
          separator + step.reason};
}

LogLine parse_log(std::string_view text) {
  auto parts = split(text, 3);
  return {wall_time(parse_number(parts[0])), static_cast<int>(parse_number(parts[1])), parts[2]};
}

std::string log_text(const LogLine& line) {
  return fmt::format("{1}{0}{2}{0}{3}", separator, line.at.time_since_epoch().count(), line.attempt,
                     line.text);
}

}  // namespace holdfast::redis
