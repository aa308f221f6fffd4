#include "engines/redis/task_record.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace holdfast::redis {

namespace {

constexpr std::size_t records_a_read = 200;

const Command fields{"s", "l", "o", "uk", "a", "v", "y", "u",  "x",
                     "t", "r", "h", "f",  "w", "e", "j", "gf", "gt"};

void read_fate(const Value& row, TaskRecord& record) {
  record.attempt = static_cast<int>(row[4].number());
  record.recoveries = static_cast<int>(row[5].number());
  record.crashes = static_cast<int>(row[6].number());
  record.suspect = !row[7].is_nil();
  record.cancel_requested = !row[8].is_nil();
  record.token = Token{row[9].number()};
  record.run_at = row[10].number() == 0 ? record.created_at : wall_time(row[10].number());
  if (auto holder = split(row[11].text(), 3); !holder[0].empty()) {
    record.worker = WorkerId::parse(holder[0]);
    record.claimed_at = wall_time(parse_number(holder[1]));
  }
  if (!row[12].is_nil()) record.finished_at = wall_time(row[12].number());
  record.result = row[13].string();
  record.error = row[14].string();
  record.cause = row[15].string();
  record.progress = row[16].real();
  record.progress_text = row[17].string();
}

TaskRecord read_record(TaskId id, const Value& row, const Value& body_text, const Value& waits) {
  TaskRecord record;
  record.id = id;
  record.state = static_cast<TaskState>(row[0].number());
  auto lane = parse_lane(row[1].text());
  record.queue = std::move(lane.queue);
  record.kind = std::move(lane.kind);
  record.limit_key = std::move(lane.key);
  record.priority = static_cast<int>(row[2].number() / one_priority);
  record.created_at = wall_time(row[2].number() % one_priority);
  record.unique_key = row[3].string();
  auto body = parse_body(body_text.text());
  record.max_attempts = body.max_attempts;
  record.timeout = body.timeout;
  record.tags = parse_json_list(body.tags);
  record.payload = std::move(body.payload);
  read_fate(row, record);
  for (std::size_t i = 0; i < waits.size(); ++i)
    if (auto on = TaskId::parse(waits[i].text())) record.waits_for.push_back(*on);
  std::sort(record.waits_for.begin(), record.waits_for.end());
  return record;
}

}  // namespace

std::vector<TaskRecord> read_records(Store& store, std::span<const TaskId> ids) {
  std::vector<TaskRecord> records;
  while (!ids.empty()) {
    auto some = ids.first(std::min(ids.size(), records_a_read));
    ids = ids.subspan(some.size());
    std::vector<Command> reads;
    for (const auto& id : some) {
      Command read{"HMGET", store.keys.task(id)};
      read.insert(read.end(), fields.begin(), fields.end());
      reads.push_back(std::move(read));
      reads.push_back({"GET", store.keys.key("p:" + id.text())});
      reads.push_back({"SMEMBERS", store.keys.key("waits:" + id.text())});
    }
    auto replies = store.server.call_all(reads);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto& row = replies[3 * i];
      if (row[0].is_nil()) continue;
      records.push_back(read_record(some[i], row, replies[3 * i + 1], replies[3 * i + 2]));
    }
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
  const auto& step = row.transition;
  auto claimed = row.claimed_at ? std::to_string(row.claimed_at->time_since_epoch().count()) : "";
  return fmt::format("{1}{0}{2}{0}{3}{0}{4}{0}{5}{0}{6}{0}{7}{0}{8}{0}{9}", separator,
                     static_cast<int>(step.from.value_or(TaskState::pending)),
                     static_cast<int>(step.to), step.actor, step.token.value, step.attempt, claimed,
                     row.worker ? row.worker->text() : "", step.at.time_since_epoch().count(),
                     step.reason);
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
