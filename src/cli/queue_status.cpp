#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/postgres.hpp>

#include "cli/command.hpp"
#include "cli/table.hpp"
#include "cli/task_text.hpp"
#include "documents/queue_json.hpp"
#include "recovery/time_text.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::cli {

namespace {

struct QueueStatusOptions {
  std::string queue;
};

void print_table(const Context& context, const std::vector<QueueStatus>& queues, WallTime now) {
  std::vector<Column> columns{{"QUEUE"}};
  for (int i = 0; i < task_state_count; ++i) {
    std::string name{to_string(static_cast<TaskState>(i))};
    for (char& letter : name) letter = static_cast<char>(letter - 'a' + 'A');
    columns.push_back({name, true});
  }
  columns.push_back({"OLDEST READY"});
  Table table{columns};
  for (const QueueStatus& queue : queues) {
    std::vector<Cell> row{queue.paused ? Cell{queue.queue + " (paused)", Colour::yellow}
                                       : Cell{queue.queue}};
    for (int i = 0; i < task_state_count; ++i) {
      const auto state = static_cast<TaskState>(i);
      const auto count = queue.count(state);
      row.emplace_back(std::to_string(count), count == 0 ? Colour::dim : colour_of(state));
    }
    row.emplace_back(queue.oldest_pending ? age_text(*queue.oldest_pending, now) : "");
    table.add(std::move(row));
  }
  context.print(table.text(context.out));
}

std::string upkeep_text(const postgres::Upkeep& upkeep) {
  auto text = fmt::format("{} dead rows beside {} live ones", upkeep.dead_rows, upkeep.live_rows);
  if (!upkeep.blocker && !upkeep.sees_others)
    text +=
        "; transactions of other roles, which may keep the server from cleaning up, cannot be "
        "seen without the role pg_read_all_stats";
  if (!upkeep.blocker) return text;
  return text + fmt::format(
                    "; process {} ({}) has had a transaction open for {} s, which keeps "
                    "the server from cleaning up",
                    upkeep.blocker->pid, upkeep.blocker->who, upkeep.blocker->age.count() / 1'000);
}

Exit run_queue_status(Context& context, const QueueStatusOptions& options) {
  const Engine engine = context.existing_engine();
  const Inspector inspector{engine};
  auto queues = inspector.queues();
  if (!options.queue.empty()) {
    std::erase_if(queues, [&](const QueueStatus& queue) { return queue.queue != options.queue; });
    if (queues.empty())
      throw InvalidRequest{fmt::format(
          "there is no queue '{}' in this store; 'holdfast queue status' lists those there are",
          options.queue)};
  }
  if (context.json) {
    context.print_json(queues_json(engine, queues));
    return Exit::ok;
  }
  const std::string durability = inspector.durability();
  const auto upkeep = postgres::upkeep(engine);
  context.confirm(fmt::format("store {}, {}, {} stale writes refused", engine.name(), durability,
                              inspector.stale_writes_refused()));
  if (upkeep) context.confirm(upkeep_text(*upkeep));
  if (auto note = engine.parts().move_note(); note && !note->done)
    context.say(fmt::format(
        "this store is being moved to {} and starts nothing: run 'holdfast move' to its end",
        note->to));
  else if (auto to = inspector.moved_to(); !to.empty())
    context.say(fmt::format("this store was moved to {}: nothing runs here any more", to));
  if (auto warning = inspector.durability_warning(); !warning.empty())
    context.say("warning: " + warning);
  if (queues.empty())
    context.confirm("no tasks yet");
  else
    print_table(context, queues, wall_now());
  return Exit::ok;
}

}  // namespace

void add_queue_status(CLI::App& parent, Context& context) {
  auto options = std::make_shared<QueueStatusOptions>();
  CLI::App* command = parent.add_subcommand("status", "Count the tasks of each queue by state");
  command->add_option("QUEUE", options->queue, "Only this queue")->type_name("");
  chosen(*command, context, options, run_queue_status);
}

}  // namespace holdfast::cli
