#include "documents/http_stats.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <ranges>

#include <holdfast/http/client.hpp>
#include <holdfast/http/response.hpp>
#include <holdfast/payload.hpp>

#include "documents/http_health.hpp"
#include "documents/http_requests.hpp"
#include "documents/http_target.hpp"
#include "documents/json.hpp"
#include "recovery/clock.hpp"
#include "tasks/engine_parts.hpp"
#include "tasks/figures.hpp"

namespace holdfast {

namespace {

using Endpoints = std::map<std::string, HttpStats::Endpoint>;

/// Names of hosts have 253 characters, and a port comes after.
constexpr std::size_t longest_host_name = 260;

/// A request without a callback has no other result than the text of its error, in which the type
/// stands before the message.
std::optional<http::ErrorType> type_in(std::string_view error) {
  constexpr std::string_view between = ": ";
  for (auto end = error.find(between); end != error.npos; end = error.find(between)) {
    if (auto type = http::parse_error_type(error.substr(0, end))) return type;
    error.remove_prefix(end + between.size());
  }
  return {};
}

void add_failure(HttpStats& stats, HttpStats::Endpoint& endpoint, const std::string& error) {
  auto type = type_in(error);
  if (type) ++stats.errors[std::string{to_string(*type)}];
  if (type != http::ErrorType::http) ++endpoint.unanswered;
}

void add_result(HttpStats& stats, const TaskRecord& task) {
  auto& endpoint = stats.endpoints[target_of(task).host];
  ++endpoint.requests;
  if (task.state == TaskState::failed) add_failure(stats, endpoint, task.error);
  if (task.result.empty()) return;
  auto json = parse_json(task.result);
  const auto* result = json.if_object();
  if (const auto* kept = result ? result->if_contains("response") : nullptr)
    result = kept->if_object();
  if (!result) return;
  const auto* status = result->if_contains("status");
  if (status && status->is_int64()) {
    ++stats.statuses[std::to_string(status->get_int64())];
    if (status->get_int64() >= 500) ++endpoint.server_errors;
  }
  if (const auto* error = result->if_contains("error"); error && error->is_string()) {
    ++stats.errors[std::string{error->get_string()}];
    if (!status) ++endpoint.unanswered;
  }
  boost::json::error_code not_a_number;
  if (const auto* took = result->if_contains("duration")) {
    stats.durations.push_back(took->to_number<double>(not_a_number));
    endpoint.durations.push_back(stats.durations.back());
  }
}

std::vector<HttpStats::Process> processes(const Engine& engine) {
  std::vector<HttpStats::Process> found;
  for (const auto& worker : Inspector{engine}.workers())
    if (worker.state == WorkerState::running &&
        std::ranges::count(worker.kinds, std::string{http::request_kind}) > 0)
      found.push_back({worker.id.text(), worker.host, worker.pid, worker.concurrency});
  if (found.empty()) return found;
  // Its last heartbeat may be half a minute ago; what is running now is known better.
  for (const auto& request : requests_in_flight(engine, 100'000, engine.parts().clock().wall())) {
    const auto process = std::ranges::find(found, request.worker, &HttpStats::Process::worker);
    if (process != found.end()) ++process->in_flight;
  }
  return found;
}

/// As of their last heartbeats.
void add_what_they_tell(const Engine& engine, std::vector<HttpStats::Process>& processes) {
  if (processes.empty()) return;
  for (const auto& told : engine.parts().workers().figures(std::chrono::hours{1})) {
    const auto process =
        std::ranges::find(processes, told.worker.text(), &HttpStats::Process::worker);
    if (process == processes.end()) continue;
    const auto figures = Figures::parse(told.figures);
    if (!figures) continue;
    process->capacity_exceeded = figures->full;
    const auto standing = http::Standing::parse(figures->tells);
    if (!standing.state.empty()) process->state = standing.state;
  }
}

/// Names are kinds of errors and numbers of statuses, of which there are few; a result that
/// somebody else wrote may have any.
std::string counts_json(const std::map<std::string, std::int64_t>& counts, std::size_t most) {
  JsonObject object;
  for (const auto& [name, count] : counts)
    if (most-- > 0 && name.size() <= longest_host_name) object.number(name, count);
  return object.str();
}

/// By host, those with the most requests.
std::vector<const Endpoints::value_type*> busiest(const Endpoints& endpoints, std::size_t most) {
  std::vector<const Endpoints::value_type*> all;
  for (const auto& each : endpoints) all.push_back(&each);
  if (all.size() <= most) return all;
  std::ranges::stable_sort(all, std::ranges::greater{},
                           [](const auto* each) { return each->second.requests; });
  all.resize(most);
  std::ranges::sort(all, {}, [](const auto* each) -> const std::string& { return each->first; });
  return all;
}

std::string endpoints_json(const HttpStats& stats, std::size_t most) {
  std::vector<std::string> list;
  for (const auto* each : busiest(stats.endpoints, most)) {
    const auto& [host, endpoint] = *each;
    list.push_back(JsonObject{}
                       .text("host", std::string_view{host}.substr(0, longest_host_name))
                       .number("requests", endpoint.requests)
                       .number("unanswered", endpoint.unanswered)
                       .number("server_errors", endpoint.server_errors)
                       .fraction("p95_seconds", percentile(endpoint.durations, 0.95))
                       .str());
  }
  return json_list(list);
}

std::string processes_json(const HttpStats& stats, std::size_t most) {
  std::vector<std::string> list;
  for (const auto& process : stats.processes | std::views::take(most))
    list.push_back(JsonObject{}
                       .text("worker", process.worker)
                       .text("host", process.host)
                       .number("pid", process.pid)
                       .text("state", process.state)
                       .number("capacity", process.capacity)
                       .number("in_flight", process.in_flight)
                       .number("capacity_exceeded", process.capacity_exceeded)
                       .fraction("utilisation", static_cast<double>(process.in_flight) /
                                                    std::max(1, process.capacity))
                       .str());
  return json_list(list);
}

std::string left_alone_list(const HttpStats& stats, std::size_t most) {
  std::vector<std::string> list;
  for (const auto& host : stats.left_alone | std::views::take(most))
    list.push_back(left_alone_json(host));
  return json_list(list);
}

std::size_t beyond(std::size_t all, std::size_t most) { return all - std::min(all, most); }

/// Stores have no index of when tasks ended, so those since some time are counted by looking.
void add_ended(HttpStats& stats, const TaskRecord& task, const HttpStatsOf& which) {
  if (which.since && (!task.finished_at || *task.finished_at < *which.since)) return;
  if (which.since) ++stats.states[std::string{to_string(task.state)}];
  if (task.state != TaskState::cancelled) add_result(stats, task);
}

/// A page at a time, while there is time: each of them has its answer with it.
void add_newest(HttpStats& stats, const Inspector& inspector, const HttpStatsOf& which,
                const std::function<bool()>& go_on) {
  constexpr int at_once = 500;
  TaskFilter filter{.states = {TaskState::completed, TaskState::failed},
                    .kind = http::request_kind};
  if (which.since) filter.states.push_back(TaskState::cancelled);
  TaskPage page;
  bool in_time = true;
  page.go_on = [&](TaskId) { return in_time = in_time && go_on(); };
  for (int left = which.newest; left > 0; left -= page.limit) {
    page.limit = std::min(left, at_once);
    const auto some = inspector.tasks(filter, page);
    for (const auto& task : some) add_ended(stats, task, which);
    if (std::ssize(some) < page.limit || !page.go_on(some.back().id)) break;
    page.after = some.back().id;
  }
  stats.complete = stats.complete && in_time;
}

/// What goes on now comes first, and the many that are done last: then time may be up.
void add_counts(HttpStats& stats, const Inspector& inspector, const HttpStatsOf& which) {
  const auto now = [] { return system_clock().steady(); };
  const auto end = which.longest ? now() + *which.longest : Millis::max();
  for (auto state : {TaskState::running, TaskState::pending, TaskState::blocked, TaskState::held,
                     TaskState::failed, TaskState::cancelled, TaskState::completed}) {
    auto& count = stats.states[std::string{to_string(state)}];
    const bool has_ended = state == TaskState::failed || state == TaskState::cancelled ||
                           state == TaskState::completed;
    if (has_ended && which.since) continue;  // see `add_ended`
    stats.complete = stats.complete && now() < end;
    if (!stats.complete) continue;
    const TaskFilter filter{.states = {state}, .kind = http::request_kind};
    const auto found = which.longest ? inspector.count_within(filter, end - now())
                                     : TaskCount{inspector.count(filter)};
    count = found.tasks;
    stats.complete = found.complete;
  }
}

}  // namespace

HttpStats http_stats(const Engine& engine, const HttpStatsOf& which) {
  const Inspector inspector{engine};
  HttpStats stats;
  add_counts(stats, inspector, which);
  const auto end = which.longest ? system_clock().steady() + *which.longest : Millis::max();
  add_newest(stats, inspector, which, [&] { return system_clock().steady() < end; });
  std::ranges::sort(stats.durations);
  for (auto& [host, endpoint] : stats.endpoints) std::ranges::sort(endpoint.durations);
  stats.processes = processes(engine);
  add_what_they_tell(engine, stats.processes);
  stats.left_alone = hosts_left_alone(engine, engine.parts().clock().wall());
  return stats;
}

double percentile(const std::vector<double>& sorted, double part) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

double mean(const std::vector<double>& durations) {
  if (durations.empty()) return 0;
  return std::accumulate(durations.begin(), durations.end(), 0.0) /
         static_cast<double>(durations.size());
}

std::string http_stats_json(const HttpStats& stats, std::size_t most_of_each) {
  return JsonObject{}
      .json("requests", counts_json(stats.states, most_of_each))
      .json("statuses", counts_json(stats.statuses, most_of_each))
      .json("errors", counts_json(stats.errors, most_of_each))
      .number("measured", stats.durations.size())
      .flag("complete", stats.complete)
      .fraction("mean_seconds", mean(stats.durations))
      .fraction("p50_seconds", percentile(stats.durations, 0.5))
      .fraction("p95_seconds", percentile(stats.durations, 0.95))
      .fraction("p99_seconds", percentile(stats.durations, 0.99))
      .json("endpoints", endpoints_json(stats, most_of_each))
      .number("endpoints_left_out", beyond(stats.endpoints.size(), most_of_each))
      .json("processes", processes_json(stats, most_of_each))
      .number("processes_left_out", beyond(stats.processes.size(), most_of_each))
      .json("left_alone", left_alone_list(stats, most_of_each))
      .number("left_alone_left_out", beyond(stats.left_alone.size(), most_of_each))
      .str();
}

}  // namespace holdfast
