#include <fmt/format.h>

#include <holdfast/schedule.hpp>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/table.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct Options {};

std::string time_json(const std::optional<WallTime>& time) {
  return time ? json_string(iso8601(*time)) : "";
}

std::string schedule_json(const Schedule& schedule) {
  const auto& task = schedule.task;
  const auto& options = task.options;
  return JsonObject{}
      .text("name", schedule.name)
      .text("cron", schedule.cron)
      .text("zone", schedule.zone)
      .text("missed", to_string(schedule.missed))
      .flag("paused", schedule.paused)
      .json("next", schedule.paused ? "" : time_json(schedule.next))
      .json("last_fired", time_json(schedule.last_fired))
      .text("kind", task.kind)
      .json("payload", json_line(task.payload))
      .text("queue", options.queue)
      .number("priority", options.priority)
      .number("max_attempts", options.max_attempts)
      .number("delay_ms", options.delay.count())
      .number("timeout_ms", options.timeout.count())
      .json("unique_key", options.unique_key.empty() ? "" : json_string(options.unique_key))
      .json("limit_key", options.limit_key.empty() ? "" : json_string(options.limit_key))
      .json("tags", json_array(options.tags))
      .str();
}

Cell next_cell(const Schedule& schedule) {
  if (schedule.paused) return {"paused", Colour::yellow};
  return schedule.next ? Cell{iso8601(*schedule.next)} : Cell{"never", Colour::dim};
}

Exit run(Context& context, const Options&) {
  const auto schedules = Schedules{context.existing_engine()}.list();
  if (context.json) {
    for (const Schedule& schedule : schedules) context.print_json(schedule_json(schedule));
    return Exit::ok;
  }
  if (schedules.empty()) {
    context.confirm("there are no schedules; 'holdfast schedule add' adds one");
    return Exit::ok;
  }
  Table table{
      {{"SCHEDULE"}, {"NEXT"}, {"LAST"}, {"CRON"}, {"ZONE"}, {"MISSED"}, {"QUEUE"}, {"KIND"}}};
  for (const Schedule& schedule : schedules)
    table.add({schedule.name, next_cell(schedule),
               schedule.last_fired ? iso8601(*schedule.last_fired) : "", schedule.cron,
               schedule.zone, std::string{to_string(schedule.missed)}, schedule.task.options.queue,
               schedule.task.kind});
  context.print(table.text(context.out));
  return Exit::ok;
}

}  // namespace

void add_schedule_list(CLI::App& parent, Context& context) {
  CLI::App* command = parent.add_subcommand("list", "Schedules, their next times and their last");
  chosen(*command, context, std::make_shared<Options>(), run);
}

}  // namespace holdfast::cli
