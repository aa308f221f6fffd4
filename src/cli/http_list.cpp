#include <fmt/format.h>

#include <holdfast/http/client.hpp>
#include <holdfast/inspector.hpp>

#include "cli/command.hpp"
#include "cli/http_sidekiq.hpp"
#include "cli/http_target.hpp"
#include "cli/json.hpp"
#include "cli/table.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct Options {
  int limit = 50;
};

std::string worker_text(const TaskRecord& task) { return task.worker ? task.worker->text() : ""; }

std::optional<WallTime> heartbeat_of(const std::vector<WorkerStatus>& workers,
                                     const TaskRecord& task) {
  for (const auto& worker : workers)
    if (task.worker == worker.id) return worker.last_heartbeat;
  return {};
}

Exit run(Context& context, const Options& options) {
  if (is_sidekiq(context)) return list_sidekiq(context, options.limit);
  const auto inspector = context.inspector();
  const auto now = wall_now();
  const auto workers = inspector.workers();
  const auto tasks = inspector.tasks({.states = {TaskState::running}, .kind = http::request_kind},
                                     {.limit = options.limit});
  Table table{{{"REQUEST"}, {"AGE", true}, {"METHOD"}, {"HOST"}, {"WORKER"}, {"HEARTBEAT", true}}};
  for (const auto& task : tasks) {
    auto [method, host] = target_of(task);
    auto age = task.claimed_at ? now - *task.claimed_at : Millis{0};
    auto beat = heartbeat_of(workers, task);
    if (context.json)
      context.print_json(
          JsonObject{}
              .text("id", task.id.text())
              .number("age_ms", age.count())
              .text("method", method)
              .text("host", host)
              .text("worker", worker_text(task))
              .json("heartbeat_age_ms", beat ? std::to_string((now - *beat).count()) : "")
              .str());
    table.add({task.id.text(), duration_text(age), method, host, worker_text(task),
               beat ? duration_text(now - *beat) : ""});
  }
  if (context.json) return Exit::ok;
  if (tasks.empty())
    context.confirm("no requests are in flight");
  else
    context.print(table.text(context.out));
  return Exit::ok;
}

}  // namespace

void add_http_list(CLI::App& parent, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = parent.add_subcommand("list", "List requests in flight");
  command->add_option("--limit", options->limit, "At most so many; default: 50")
      ->check(CLI::Range(1, 100'000));
  chosen(*command, context, options, run);
}

}  // namespace holdfast::cli
