#include "engines/redis/task_change.hpp"

#include "engines/redis/task_record.hpp"

namespace holdfast::redis {

namespace {

TaskRow row_of(TaskId id, const RowText& text) {
  TaskRow row;
  row.id = id;
  row.state = text.state;
  row.token = text.token;
  row.attempt = text.attempt;
  if (!text.claimed_at.empty()) row.claimed_at = wall_time(parse_number(text.claimed_at));
  if (!text.worker.empty()) row.worker = WorkerId::parse(text.worker);
  return row;
}

void add(Arguments& arguments, const TextChange& change) {
  arguments.add(change.changed).add(change.text ? std::string_view{*change.text} : "");
}

void add_after_write(Arguments& arguments, const std::optional<WallTime>& time) {
  if (time)
    arguments.add(*time - when_written);
  else
    arguments.add("");
}

}  // namespace

std::vector<std::optional<LookedTask>> look_at(Store& store, std::span<const TaskId> ids) {
  auto arguments = store.arguments();
  arguments.add(ids.size());
  for (const auto& id : ids) arguments.add(id.text());
  const auto answer = store.run(scripts::look, arguments);
  std::vector<std::optional<LookedTask>> looked;
  for (std::size_t i = 0; i < ids.size(); ++i) looked.push_back(read_looked(ids[i], answer[i]));
  return looked;
}

std::optional<LookedTask> read_looked(TaskId id, const Value& values) {
  const auto text = parse_row(values[0]);
  if (!text) return {};
  auto row = row_of(id, *text);
  row.crashes = static_cast<int>(values[1].number());
  row.suspect = !values[2].is_nil();
  row.cancel_requested = !values[3].is_nil();
  if (row.state != TaskState::running) {
    row.waits = values[4].number() == 1;
    row.key_taken = values[5].number() == 1;
  }
  return LookedTask{std::move(row), parse_lane(text->lane).kind};
}

LookedTask looked_from_record(TaskId id, std::string_view record) {
  const auto text = parse_row(record);
  return {row_of(id, text), parse_lane(text.lane).kind};
}

void add(Arguments& arguments, const TaskRow& before) {
  arguments.add(before.state).add(before.token.value).add(before.attempt);
  arguments.add(before.cancel_requested).add(before.waits);
}

void add(Arguments& arguments, const TaskChange& change, std::string_view actor) {
  add(arguments, change.before);
  arguments.add(change.to).add(change.new_token).add(change.attempt).add(change.crashes);
  arguments.add(change.recovered).add(change.suspect).add(change.cancel_requested);
  arguments.add(change.forget_progress);
  add_after_write(arguments, change.run_at);
  arguments.add(change.finished_at.has_value());
  add(arguments, change.result);
  add(arguments, change.error);
  add(arguments, change.cause);
  const auto [before, after] =
      change.history ? history_around_time(*change.history) : std::pair<std::string, std::string>{};
  arguments.add(before).add(after);
  arguments.add(lifecycle::reaches_dependents(change.to) ? actor : "");
}

TaskChanged told(const std::string& kind, const TaskChange& change, WallTime written) {
  auto step = change.history.value().transition;
  step.at = written;
  return {change.before.id, kind, std::move(step)};
}

}  // namespace holdfast::redis
