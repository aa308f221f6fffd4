#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.hpp"
#include "cli/table.hpp"
#include "documents/worker_json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct WorkerListOptions {
  bool show_heartbeat = false;
  std::string state;
};

Colour colour_of(const WorkerStatus& worker) {
  if (!worker.paused_kinds.empty()) return Colour::red;
  if (!worker.troubles.empty()) return Colour::yellow;
  if (worker.state == WorkerState::running) return worker.draining ? Colour::yellow : Colour::green;
  return worker.state == WorkerState::dead ? Colour::red : Colour::dim;
}

std::string remark(const WorkerStatus& worker) {
  if (!worker.paused_kinds.empty()) {
    const auto& [kind, why] = *worker.paused_kinds.begin();
    const auto more = worker.paused_kinds.size() - 1;
    return fmt::format("cannot run {}{}: {}", kind,
                       more > 0 ? fmt::format(" and {} more kinds", more) : "", why);
  }
  if (!worker.troubles.empty()) {
    const auto& [what, why] = *worker.troubles.begin();
    const auto more = worker.troubles.size() - 1;
    return fmt::format("{}{}: {}", what, more > 0 ? fmt::format(" and {} more", more) : "", why);
  }
  if (worker.evidence.empty()) return worker.cause;
  return worker.cause.empty() ? worker.evidence
                              : fmt::format("{}; {}", worker.cause, worker.evidence);
}

void print_table(const Context& context, const std::vector<WorkerStatus>& workers,
                 bool show_heartbeat, WallTime now) {
  std::vector<Column> columns{{"WORKER"}, {"STATE"},  {"HOST"},          {"PID", true},
                              {"KINDS"},  {"QUEUES"}, {"THREADS", true}, {"STARTED"}};
  if (show_heartbeat)
    columns.insert(columns.end(), {{"HEARTBEAT"}, {"EVERY"}, {"HOLDING", true}, {"PROOF"}});
  columns.push_back({"REMARK"});
  Table table{columns};
  for (const WorkerStatus& worker : workers) {
    std::vector<Cell> row{
        worker.id.text(),
        {std::string{standing_of(worker)}, colour_of(worker)},
        worker.host,
        std::to_string(worker.pid),
        fmt::format("{}", fmt::join(worker.kinds, ",")),
        worker.queues.empty() ? "all" : fmt::format("{}", fmt::join(worker.queues, ",")),
        std::to_string(worker.concurrency),
        age_text(worker.started_at, now)};
    if (show_heartbeat) {
      row.emplace_back(age_text(worker.last_heartbeat, now));
      row.emplace_back(duration_text(worker.heartbeat_interval));
      row.emplace_back(std::to_string(worker.holding.size()));
      row.emplace_back(worker.proof);
    }
    row.emplace_back(remark(worker));
    table.add(std::move(row));
  }
  context.print(table.text(context.out));
}

Exit run_worker_list(Context& context, const WorkerListOptions& options) {
  auto workers = context.inspector().workers();
  if (!options.state.empty())
    std::erase_if(workers, [&](const WorkerStatus& worker) {
      return to_string(worker.state) != options.state;
    });
  running_first(workers);
  const WallTime now = wall_now();
  if (context.json)
    for (const WorkerStatus& worker : workers) context.print_json(worker_json(worker, now));
  else if (workers.empty())
    context.confirm("no workers");
  else
    print_table(context, workers, options.show_heartbeat, now);
  return Exit::ok;
}

}  // namespace

void add_worker_list(CLI::App& parent, Context& context) {
  auto options = std::make_shared<WorkerListOptions>();
  CLI::App* command = parent.add_subcommand("list", "List workers, running ones first");
  command->add_flag("--show-heartbeat", options->show_heartbeat,
                    "Also when each was last heard of, what it holds, and how we know");
  command->add_option("--state", options->state, "Only workers in this state")
      ->check(CLI::IsMember({"running", "stopped", "dead"}));
  chosen(*command, context, options, run_worker_list);
}

}  // namespace holdfast::cli
