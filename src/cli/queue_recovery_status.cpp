#include <fmt/format.h>
#include <set>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct Options {};

struct Census {
  int running = 0;
  int stopped = 0;
  int dead = 0;
  std::set<WorkerId> alive{};
};

Census take_census(const Inspector& inspector) {
  Census census;
  for (const WorkerStatus& worker : inspector.workers()) {
    if (worker.state == WorkerState::stopped) ++census.stopped;
    if (worker.state == WorkerState::dead) ++census.dead;
    if (worker.state != WorkerState::running) continue;
    ++census.running;
    census.alive.insert(worker.id);
  }
  return census;
}

// Running tasks that nobody alive has: recovery will take them back.
std::int64_t count_orphans(const Inspector& inspector, const Census& census) {
  constexpr int page = 1'000;
  const TaskFilter running{.states = {TaskState::running}};
  std::int64_t orphans = 0;
  for (int offset = 0;; offset += page) {
    const auto tasks =
        inspector.tasks(running, {.limit = page, .offset = offset, .newest_first = false});
    for (const TaskRecord& task : tasks)
      if (!task.worker || !census.alive.contains(*task.worker)) ++orphans;
    if (tasks.size() < page) return orphans;
  }
}

Exit run(Context& context, const Options&) {
  const Inspector inspector = context.inspector();
  const Census census = take_census(inspector);
  const auto orphans = count_orphans(inspector, census);
  const auto reports = inspector.reports(1);
  if (context.json) {
    context.print_json(
        JsonObject{}
            .number("waiting", orphans)
            .number("workers_running", census.running)
            .number("workers_stopped", census.stopped)
            .number("workers_dead", census.dead)
            .json("last_recovery",
                  reports.empty() ? "" : json_string(iso8601(reports.front().completed_at)))
            .json("last_recovered",
                  reports.empty() ? "" : std::to_string(reports.front().tasks.size()))
            .str());
    return Exit::ok;
  }
  context.say(orphans == 0
                  ? "nothing is waiting to be recovered"
                  : fmt::format("{} tasks of dead workers are waiting to be recovered{}", orphans,
                                census.running == 0 ? "; no worker is running to do it, "
                                                      "'holdfast queue recover' does it now"
                                                    : ""));
  context.say(fmt::format("workers: {} running, {} stopped, {} dead", census.running,
                          census.stopped, census.dead));
  if (reports.empty())
    context.say("last recovery: none had anything to do yet");
  else
    context.say(fmt::format("last recovery: {} ({}), {} tasks, {} dead workers, took {}",
                            iso8601(reports.front().completed_at),
                            age_text(reports.front().completed_at, wall_now()),
                            reports.front().tasks.size(), reports.front().dead_workers.size(),
                            duration_text(reports.front().duration)));
  return Exit::ok;
}

}  // namespace

void add_queue_recovery_status(CLI::App& parent, Context& context) {
  CLI::App* command = parent.add_subcommand(
      "recovery-status", "Say whether work of dead workers waits to be taken back");
  chosen(*command, context, std::make_shared<Options>(), run);
}

}  // namespace holdfast::cli
