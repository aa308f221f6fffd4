#include "engines/redis/task_change.hpp"

#include "engines/redis/task_record.hpp"

namespace holdfast::redis {

namespace {

TaskRow read_row(TaskId id, const RowText& text, const Value& values) {
  TaskRow row;
  row.id = id;
  row.state = text.state;
  row.token = text.token;
  row.attempt = text.attempt;
  row.crashes = static_cast<int>(values[1].number());
  row.suspect = !values[2].is_nil();
  row.cancel_requested = !values[3].is_nil();
  if (text.state != TaskState::running) {
    row.waits = values[4].number() == 1;
    row.key_taken = values[5].number() == 1;
  }
  if (!text.claimed_at.empty()) row.claimed_at = wall_time(parse_number(text.claimed_at));
  if (!text.worker.empty()) row.worker = WorkerId::parse(text.worker);
  return row;
}

void add(Arguments& arguments, const TextChange& change) {
  arguments.add(change.changed).add(change.text ? std::string_view{*change.text} : "");
}

void add(Arguments& arguments, const std::optional<WallTime>& time) {
  if (time)
    arguments.add(*time);
  else
    arguments.add("");
}

}  // namespace

Looked look_at(Store& store, std::span<const TaskId> ids) {
  auto arguments = store.arguments();
  arguments.add(ids.size());
  for (const auto& id : ids) arguments.add(id.text());
  auto answer = store.run(scripts::look, arguments);
  Looked looked{wall_time(answer[0].number())};
  for (std::size_t i = 0; i < ids.size(); ++i)
    looked.tasks.push_back(read_looked(ids[i], answer[1][i]));
  return looked;
}

std::optional<Looked::Task> read_looked(TaskId id, const Value& values) {
  const auto text = parse_row(values[0]);
  if (!text) return {};
  return Looked::Task{read_row(id, *text, values), parse_lane(text->lane).kind};
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
  add(arguments, change.run_at);
  add(arguments, change.finished_at);
  add(arguments, change.result);
  add(arguments, change.error);
  add(arguments, change.cause);
  arguments.add(change.history ? history_text(*change.history) : "");
  arguments.add(lifecycle::reaches_dependents(change.to) ? actor : "");
}

TaskChanged told(const std::string& kind, const TaskChange& change) {
  return {change.before.id, kind, change.history.value().transition};
}

}  // namespace holdfast::redis
