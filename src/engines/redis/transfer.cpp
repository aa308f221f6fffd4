#include "engines/redis/transfer.hpp"

#include <array>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "engines/redis/dependents.hpp"
#include "engines/redis/task_record.hpp"

namespace holdfast::redis {

namespace {

constexpr std::size_t parts_of_parcel = 4;  ///< that are read for each task, beside its record

/// What is unusual about a task.
std::vector<std::string> unusual_fields(const TaskRecord& task) {
  std::vector<std::string> fields;
  auto add = [&](const char* name, std::string value) {
    fields.emplace_back(name);
    fields.push_back(std::move(value));
  };
  auto add_number = [&](const char* name, std::int64_t value) {
    if (value != 0) add(name, std::to_string(value));
  };
  auto add_text = [&](const char* name, const std::string& value) {
    if (!value.empty()) add(name, value);
  };
  add_number("v", task.recoveries);
  add_number("y", task.crashes);
  add_number("u", task.suspect);
  add_text("e", task.error);
  add_text("j", task.cause);
  add_text("w", task.result);
  if (task.progress > 0) add("gf", fmt::format("{}", task.progress));
  add_text("gt", task.progress_text);
  return fields;
}

void add(Arguments& arguments, const Parcel& parcel) {
  const auto& task = parcel.task;
  NewTask body{task.kind, task.payload};
  body.options.queue = task.queue;
  body.options.max_attempts = task.max_attempts;
  body.options.timeout = task.timeout;
  body.options.backoff = parcel.backoff;
  body.options.tags = task.tags;
  body.options.limit_key = task.limit_key;
  std::vector<std::string> waits, history, log, effects;
  for (const auto& id : task.waits_for) waits.push_back(id.text());
  for (const auto& row : parcel.history) history.push_back(history_text(row));
  for (const auto& line : parcel.logs) log.push_back(log_text(line));
  for (const auto& [key, value] : parcel.effects) {
    effects.push_back(key);
    effects.push_back(value);
  }
  arguments.add(task.id.text()).add(task.state).add(lane_text(body)).add(task.priority);
  arguments.add(task.created_at);
  arguments.add(task.run_at <= task.created_at ? WallTime{} : task.run_at);
  arguments.add(task.token.value).add(task.attempt);
  if (task.finished_at)
    arguments.add(*task.finished_at);
  else
    arguments.add("");
  arguments.add(task.unique_key).add(body_text(body)).add(unusual_fields(task));
  arguments.add(waits).add(history).add(log).add(effects);
}

}  // namespace

std::optional<MoveNote> RedisTaskTransfer::note() {
  auto text = store_.server.call({"HGET", store_.keys.key("move"), "note"});
  if (text.is_nil()) return {};
  return parse_note(text.text());
}

std::string RedisTaskTransfer::keep_store_id(const std::string& id) {
  // As `Store` does it, which may have done it before.
  auto meta = store_.keys.key("meta");
  std::array commands{Command{"HSETNX", meta, "store", id}, Command{"HGET", meta, "store"}};
  return store_.server.call_all(commands)[1].string();
}

void RedisTaskTransfer::set_note(const std::optional<MoveNote>& note) {
  auto key = store_.keys.key("move");
  kill_point(move_points.before);
  if (!note) {
    store_.server.call({"DEL", key});
  } else if (note->closed) {
    store_.server.call({"HSET", key, "note", note_text(*note), "closed_to", note->to});
  } else {
    std::array commands{Command{"HSET", key, "note", note_text(*note)},
                        Command{"HDEL", key, "closed_to"}};
    store_.server.call_all(commands);
  }
  kill_point(move_points.after);
}

std::vector<Parcel> RedisTaskTransfer::pack(std::span<const TaskId> ids) {
  std::vector<Parcel> parcels;
  for (auto& record : read_records(store_, ids)) {
    parcels.emplace_back();
    parcels.back().task = std::move(record);
  }
  std::vector<Command> reads;
  for (const auto& parcel : parcels) {
    auto id = parcel.task.id.text();
    reads.push_back({"GET", store_.keys.key("p:" + id)});
    reads.push_back({"LRANGE", store_.keys.key("h:" + id), "0", "-1"});
    reads.push_back({"LRANGE", store_.keys.key("log:" + id), "0", "-1"});
    reads.push_back({"HGETALL", store_.keys.key("e:" + id)});
  }
  auto replies = store_.server.call_all(reads);
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    auto& parcel = parcels[i];
    const auto* found = &replies[parts_of_parcel * i];
    parcel.backoff = parse_body(found[0].text()).backoff;
    for (std::size_t j = 0; j < found[1].size(); ++j)
      parcel.history.push_back(parse_history(found[1][j].text()));
    for (std::size_t j = 0; j < found[2].size(); ++j)
      parcel.logs.push_back(parse_log(found[2][j].text()));
    for (std::size_t j = 0; j + 1 < found[3].size(); j += 2)
      parcel.effects.emplace_back(found[3][j].string(), found[3][j + 1].string());
  }
  return parcels;
}

std::vector<Adopted> RedisTaskTransfer::adopt(std::span<const Parcel> parcels) {
  auto arguments = store_.arguments();
  arguments.add(parcels.size());
  for (const auto& parcel : parcels) add(arguments, parcel);
  auto answer = store_.run(move_points, scripts::adopt, arguments);
  if (answer[0].text() != "ok")
    throw InvalidRequest{
        fmt::format("a task waits for {}, which is not in this store", answer[1].text())};
  std::vector<Adopted> adopted;
  for (std::size_t i = 0; i < answer[1].size(); ++i)
    adopted.push_back(static_cast<Adopted>(answer[1][i].number()));
  return adopted;
}

std::int64_t RedisTaskTransfer::forget(std::span<const TaskId> ids) {
  end_dependents(store_, find_dependents(store_), all_dependents);
  auto arguments = store_.arguments();
  arguments.add(ids.size());
  for (const auto& id : ids) arguments.add(id.text());
  return store_.run(move_points, scripts::forget, arguments).number();
}

}  // namespace holdfast::redis
