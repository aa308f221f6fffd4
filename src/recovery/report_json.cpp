#include <fmt/format.h>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <holdfast/error.hpp>
#include <holdfast/report.hpp>

#include "recovery/recovery_action.hpp"
#include "recovery/time_text.hpp"

namespace holdfast {

namespace json = boost::json;

namespace {

json::string_view view(std::string_view text) { return {text.data(), text.size()}; }

json::value optional_id(const std::optional<WorkerId>& id) {
  if (!id) return nullptr;
  return json::string{id->text()};
}

json::object written(const RecoveredTask& task) {
  return {{"id", task.id.text()},
          {"action", view(to_string(task.action))},
          {"now", view(to_string(task.now))},
          {"attempt", task.attempt},
          {"max_attempts", task.max_attempts},
          {"reason", task.reason},
          {"worker", optional_id(task.worker)},
          {"success", task.success},
          {"error", task.error}};
}

json::object written(const DeadWorker& worker) {
  return {{"id", worker.id.text()}, {"host", worker.host},
          {"pid", worker.pid},      {"last_heartbeat", iso8601(worker.last_heartbeat)},
          {"cause", worker.cause},  {"evidence", worker.evidence}};
}

std::string text_in(const json::object& object, std::string_view key) {
  const auto& text = object.at(view(key)).as_string();
  return {text.data(), text.size()};
}

template <class Number>
Number number_in(const json::object& object, std::string_view key) {
  return object.at(view(key)).to_number<Number>();
}

/// The value of an optional that must be there, or an error that names the field.
template <class T>
T required(std::optional<T> value, std::string_view key) {
  if (!value) throw std::invalid_argument{fmt::format("`{}` makes no sense", key)};
  return *value;
}

WallTime time_in(const json::object& object, std::string_view key) {
  return required(parse_iso8601(text_in(object, key)), key);
}

RecoveredTask read_task(const json::object& object) {
  RecoveredTask task;
  task.id = required(TaskId::parse(text_in(object, "id")), "id");
  task.action = required(parse_recovery_action(text_in(object, "action")), "action");
  task.now = required(parse_task_state(text_in(object, "now")), "now");
  task.attempt = number_in<int>(object, "attempt");
  task.max_attempts = number_in<int>(object, "max_attempts");
  task.reason = text_in(object, "reason");
  if (!object.at("worker").is_null())
    task.worker = required(WorkerId::parse(text_in(object, "worker")), "worker");
  task.success = object.at("success").as_bool();
  task.error = text_in(object, "error");
  return task;
}

DeadWorker read_worker(const json::object& object) {
  DeadWorker worker;
  worker.id = required(WorkerId::parse(text_in(object, "id")), "id");
  worker.host = text_in(object, "host");
  worker.pid = number_in<int>(object, "pid");
  worker.last_heartbeat = time_in(object, "last_heartbeat");
  worker.cause = text_in(object, "cause");
  worker.evidence = text_in(object, "evidence");
  return worker;
}

RecoveryReport read_report(const json::object& object) {
  RecoveryReport report;
  report.started_at = time_in(object, "started_at");
  report.completed_at = time_in(object, "completed_at");
  report.duration = Millis{number_in<std::int64_t>(object, "duration_ms")};
  report.trigger = text_in(object, "trigger");
  for (const auto& task : object.at("tasks").as_array())
    report.tasks.push_back(read_task(task.as_object()));
  for (const auto& worker : object.at("dead_workers").as_array())
    report.dead_workers.push_back(read_worker(worker.as_object()));
  report.stale_writes_refused = number_in<int>(object, "stale_writes_refused");
  report.stale_writes_refused_ever = number_in<std::int64_t>(object, "stale_writes_refused_ever");
  return report;
}

}  // namespace

std::string to_json(const RecoveryReport& report) {
  json::array tasks, workers;
  for (const auto& task : report.tasks) tasks.push_back(written(task));
  for (const auto& worker : report.dead_workers) workers.push_back(written(worker));
  return json::serialize(
      json::object{{"started_at", iso8601(report.started_at)},
                   {"completed_at", iso8601(report.completed_at)},
                   {"duration_ms", report.duration.count()},
                   {"trigger", report.trigger},
                   {"tasks", std::move(tasks)},
                   {"dead_workers", std::move(workers)},
                   {"stale_writes_refused", report.stale_writes_refused},
                   {"stale_writes_refused_ever", report.stale_writes_refused_ever}});
}

RecoveryReport report_from_json(const std::string& text) {
  // Boost.JSON and `required` say what is wrong in exceptions of several types; to our callers it
  // is one thing: the store holds a report that nobody of ours wrote.
  try {
    return read_report(json::parse(text).as_object());
  } catch (const std::exception& fault) {
    throw StoreUnusable{fmt::format("a stored recovery report cannot be read: {}", fault.what())};
  }
}

}  // namespace holdfast
