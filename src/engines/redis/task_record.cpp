#include "engines/redis/task_record.hpp"

#include <algorithm>

namespace holdfast::redis {

namespace {

constexpr std::size_t records_a_read = 200;

const Command fields{"k", "q", "s", "p", "g", "uk", "a", "m", "v", "y", "u",  "x",
                     "t", "c", "r", "l", "f", "i",  "o", "w", "e", "j", "gf", "gt"};

std::optional<WallTime> time_in(const Value& value) {
  if (value.is_nil()) return {};
  return wall_time(value.number());
}

void read_fate(const Value& row, TaskRecord& record) {
  record.attempt = static_cast<int>(row[6].number());
  record.max_attempts = static_cast<int>(row[7].number());
  record.recoveries = static_cast<int>(row[8].number());
  record.crashes = static_cast<int>(row[9].number());
  record.suspect = !row[10].is_nil();
  record.cancel_requested = !row[11].is_nil();
  record.token = Token{row[12].number()};
  record.created_at = wall_time(row[13].number());
  record.run_at = row[14].number() == 0 ? record.created_at : wall_time(row[14].number());
  record.claimed_at = time_in(row[15]);
  record.finished_at = time_in(row[16]);
  record.timeout = Millis{row[17].number()};
  record.worker = WorkerId::parse(row[18].text());
  record.result = row[19].string();
  record.error = row[20].string();
  record.cause = row[21].string();
  record.progress = row[22].real();
  record.progress_text = row[23].string();
}

TaskRecord read_record(TaskId id, const Value& row, const Value& payload, const Value& waits) {
  TaskRecord record;
  record.id = id;
  record.kind = row[0].string();
  record.queue = row[1].string();
  record.state = static_cast<TaskState>(row[2].number());
  record.priority = static_cast<int>(row[3].number());
  record.tags = parse_json_list(row[4].text());
  record.unique_key = row[5].string();
  record.payload = payload.string();
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

}  // namespace holdfast::redis
