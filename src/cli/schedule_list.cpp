#include <fmt/format.h>

#include <holdfast/schedule.hpp>

#include "cli/command.hpp"
#include "cli/table.hpp"
#include "documents/schedule_json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct ScheduleListOptions {};

Cell next_cell(const Schedule& schedule) {
  if (schedule.paused) return {"paused", Colour::yellow};
  return schedule.next ? Cell{iso8601(*schedule.next)} : Cell{"never", Colour::dim};
}

Exit run_schedule_list(Context& context, const ScheduleListOptions&) {
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
  chosen(*command, context, std::make_shared<ScheduleListOptions>(), run_schedule_list);
}

}  // namespace holdfast::cli
