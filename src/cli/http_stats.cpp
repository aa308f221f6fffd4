#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <holdfast/http/client.hpp>
#include <holdfast/inspector.hpp>

#include "cli/command.hpp"
#include "cli/http_sidekiq.hpp"
#include "cli/http_target.hpp"
#include "cli/json.hpp"
#include "cli/table.hpp"

namespace holdfast::cli {

namespace {

struct Options {
  int newest = 10'000;
};

double percentile_of(const std::vector<double>& sorted, double part) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

/// How a host has been answering.
struct Endpoint {
  std::int64_t requests = 0;
  std::int64_t unanswered = 0;
  std::int64_t server_errors = 0;  ///< answers of 500 and more
  std::vector<double> durations{};
};

/// What the results of requests that ended say.
struct Stats {
  std::map<std::string, Endpoint> endpoints;
  std::map<std::string, std::int64_t> states, statuses, errors;
  std::vector<double> durations;  ///< seconds, in order

  double percentile(double part) const { return percentile_of(durations, part); }
};

void add_result(Stats& stats, const TaskRecord& task) {
  auto& endpoint = stats.endpoints[target_of(task).host];
  ++endpoint.requests;
  if (task.state == TaskState::failed) ++endpoint.unanswered;
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

Stats collect(const Inspector& inspector, int newest) {
  Stats stats;
  for (int i = 0; i < task_state_count; ++i) {
    auto state = static_cast<TaskState>(i);
    stats.states[std::string{to_string(state)}] =
        inspector.count({.states = {state}, .kind = http::request_kind});
  }
  for (const auto& task : inspector.tasks(
           {.states = {TaskState::completed, TaskState::failed}, .kind = http::request_kind},
           {.limit = newest}))
    add_result(stats, task);
  std::ranges::sort(stats.durations);
  for (auto& [host, endpoint] : stats.endpoints) std::ranges::sort(endpoint.durations);
  return stats;
}

std::string counts_json(const std::map<std::string, std::int64_t>& counts) {
  JsonObject object;
  for (const auto& [name, count] : counts) object.number(name, count);
  return object.str();
}

std::string endpoints_json(const Stats& stats) {
  std::vector<std::string> list;
  for (const auto& [host, endpoint] : stats.endpoints)
    list.push_back(JsonObject{}
                       .text("host", host)
                       .number("requests", endpoint.requests)
                       .number("unanswered", endpoint.unanswered)
                       .number("server_errors", endpoint.server_errors)
                       .fraction("p95_seconds", percentile_of(endpoint.durations, 0.95))
                       .str());
  return json_list(list);
}

void print_endpoints(const Context& context, const Stats& stats) {
  Table table{
      {{"HOST"}, {"REQUESTS", true}, {"UNANSWERED", true}, {"5XX", true}, {"95 % WITHIN", true}}};
  for (const auto& [host, endpoint] : stats.endpoints)
    table.add({host.empty() ? "(not known)" : host, std::to_string(endpoint.requests),
               std::to_string(endpoint.unanswered), std::to_string(endpoint.server_errors),
               fmt::format("{:.3f} s", percentile_of(endpoint.durations, 0.95))});
  if (!table.empty()) context.print(table.text(context.out));
}

std::vector<WorkerStatus> processors(const Inspector& inspector) {
  auto workers = inspector.workers();
  std::erase_if(workers, [](const WorkerStatus& worker) {
    return worker.state != WorkerState::running ||
           std::ranges::count(worker.kinds, std::string{http::request_kind}) == 0;
  });
  return workers;
}

std::int64_t in_flight(const Inspector& inspector, const WorkerStatus& worker) {
  // Its last heartbeat may be half a minute ago; what is running now is known better.
  std::int64_t count = 0;
  for (const auto& task : inspector.tasks(
           {.states = {TaskState::running}, .kind = http::request_kind}, {.limit = 100'000}))
    count += task.worker == worker.id;
  return count;
}

void print_json(const Context& context, const Inspector& inspector, const Stats& stats) {
  std::vector<std::string> processes;
  for (const auto& worker : processors(inspector)) {
    auto flying = in_flight(inspector, worker);
    processes.push_back(
        JsonObject{}
            .text("worker", worker.id.text())
            .text("host", worker.host)
            .number("pid", worker.pid)
            .number("capacity", worker.concurrency)
            .number("in_flight", flying)
            .fraction("utilisation", static_cast<double>(flying) / std::max(1, worker.concurrency))
            .str());
  }
  context.print_json(JsonObject{}
                         .json("requests", counts_json(stats.states))
                         .json("statuses", counts_json(stats.statuses))
                         .json("errors", counts_json(stats.errors))
                         .number("measured", stats.durations.size())
                         .fraction("p50_seconds", stats.percentile(0.5))
                         .fraction("p95_seconds", stats.percentile(0.95))
                         .fraction("p99_seconds", stats.percentile(0.99))
                         .json("endpoints", endpoints_json(stats))
                         .json("processes", json_list(processes))
                         .str());
}

void print_text(const Context& context, const Inspector& inspector, const Stats& stats) {
  Table table{{{"REQUESTS"}, {"COUNT", true}}};
  for (const auto& [name, count] : stats.states)
    if (count > 0) table.add({name, std::to_string(count)});
  for (const auto& [name, count] : stats.statuses)
    table.add({"answered " + name, std::to_string(count)});
  for (const auto& [name, count] : stats.errors)
    table.add({"error " + name, std::to_string(count)});
  if (table.empty()) return context.confirm("there are no requests");
  context.print(table.text(context.out));
  if (!stats.durations.empty())
    context.say(fmt::format("half within {:.3f} s, 95 % within {:.3f} s, 99 % within {:.3f} s",
                            stats.percentile(0.5), stats.percentile(0.95), stats.percentile(0.99)));
  print_endpoints(context, stats);
  for (const auto& worker : processors(inspector))
    context.say(fmt::format("{} (process {} on {}): {} of {} in flight", worker.id.text(),
                            worker.pid, worker.host, in_flight(inspector, worker),
                            worker.concurrency));
}

Exit run(Context& context, const Options& options) {
  if (is_sidekiq(context)) return count_sidekiq(context);
  const auto inspector = context.inspector();
  const auto stats = collect(inspector, options.newest);
  context.json ? print_json(context, inspector, stats) : print_text(context, inspector, stats);
  return Exit::ok;
}

}  // namespace

void add_http_stats(CLI::App& parent, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      parent.add_subcommand("stats", "Count requests, statuses, errors and how long they took");
  command
      ->add_option("--newest", options->newest, "Look into the results of so many; default: 10000")
      ->check(CLI::Range(1, 1'000'000));
  chosen(*command, context, options, run);
}

}  // namespace holdfast::cli
