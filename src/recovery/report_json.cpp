#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <holdfast/error.hpp>
#include <holdfast/report.hpp>

#include "recovery/json_fields.hpp"
#include "recovery/recovery_action.hpp"
#include "recovery/start_up_json.hpp"

namespace holdfast {

using namespace json_fields;

namespace {

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

json::object written(const OrphanCounts& counts) {
  return {{"pending", counts.pending},
          {"failed", counts.failed},
          {"held", counts.held},
          {"cancelled", counts.cancelled},
          {"not_taken", counts.not_taken}};
}

json::value written(const std::optional<StartUp>& start_up) {
  if (!start_up) return nullptr;
  return to_json_object(*start_up);
}

/// A list as text, one element at a time: as one value, a hundred thousand tasks would take several
/// times the memory of their text.
template <class Items>
void append_list(std::string& text, std::string_view key, const Items& items) {
  text += fmt::format(",\"{}\":[", key);
  bool first = true;
  for (const auto& item : items) {
    if (!std::exchange(first, false)) text += ',';
    text += json::serialize(written(item));
  }
  text += ']';
}

RecoveredTask read_task(const json::object& object) {
  RecoveredTask task;
  task.id = required(TaskId::parse(text_in(object, "id")), "id");
  task.action = required(parse_recovery_action(text_in(object, "action")), "action");
  task.now = required(parse_task_state(text_in(object, "now")), "now");
  task.attempt = number_in<int>(object, "attempt");
  task.max_attempts = number_in<int>(object, "max_attempts");
  task.reason = text_in(object, "reason");
  task.worker = optional_id_in<WorkerId>(object, "worker");
  task.success = flag_in(object, "success");
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

OrphanCounts read_counts(const json::object& object) {
  OrphanCounts counts;
  counts.pending = number_in<std::int64_t>(object, "pending");
  counts.failed = number_in<std::int64_t>(object, "failed");
  counts.held = number_in<std::int64_t>(object, "held");
  counts.cancelled = number_in<std::int64_t>(object, "cancelled");
  counts.not_taken = number_in<std::int64_t>(object, "not_taken");
  return counts;
}

ReportState parse_report_state(const std::string& text) {
  for (auto state : {ReportState::complete, ReportState::running, ReportState::interrupted,
                     ReportState::dry_run}) {
    if (to_string(state) == text) return state;
  }
  return required(std::optional<ReportState>{}, "state");
}

/// What the first versions did not write: they counted no orphans, because all of them were listed.
void read_later_fields(const json::object& object, RecoveryReport& report) {
  report.id = optional_id_in<ReportId>(object, "id").value_or(ReportId{});
  report.state = parse_report_state(text_in(object, "state"));
  report.action = required(parse_recovery_action(text_in(object, "action")), "action");
  if (const auto& start_up = object.at("start_up"); !start_up.is_null())
    report.start_up = start_up_from_json(start_up.as_object());
  report.orphans = read_counts(object.at("orphans").as_object());
  for (const auto& error : object.at("errors").as_array())
    report.errors.emplace_back(error.as_string());
}

RecoveryReport read_report(const json::object& object) {
  RecoveryReport report;
  report.started_at = time_in(object, "started_at");
  report.completed_at = time_in(object, "completed_at");
  report.duration = Millis{number_in<std::int64_t>(object, "duration_ms")};
  report.trigger = text_in(object, "trigger");
  for (const auto& task : object.at("tasks").as_array()) report.add(read_task(task.as_object()));
  for (const auto& worker : object.at("dead_workers").as_array())
    report.dead_workers.push_back(read_worker(worker.as_object()));
  report.stale_writes_refused = number_in<int>(object, "stale_writes_refused");
  report.stale_writes_refused_ever = number_in<std::int64_t>(object, "stale_writes_refused_ever");
  if (object.contains("state")) read_later_fields(object, report);
  return report;
}

}  // namespace

std::string to_json(const RecoveryReport& report) {
  json::array errors;
  for (const auto& error : report.errors) errors.push_back(json::string{error});
  std::optional<ReportId> id;
  if (!report.id.is_nil()) id = report.id;
  auto text = json::serialize(
      json::object{{"id", optional_id(id)},
                   {"state", view(to_string(report.state))},
                   {"started_at", iso8601(report.started_at)},
                   {"completed_at", iso8601(report.completed_at)},
                   {"duration_ms", report.duration.count()},
                   {"trigger", report.trigger},
                   {"action", view(to_string(report.action))},
                   {"start_up", written(report.start_up)},
                   {"orphans", written(report.orphans)},
                   {"errors", std::move(errors)},
                   {"stale_writes_refused", report.stale_writes_refused},
                   {"stale_writes_refused_ever", report.stale_writes_refused_ever}});
  text.pop_back();
  append_list(text, "dead_workers", report.dead_workers);
  append_list(text, "tasks", report.tasks);
  return text + '}';
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
