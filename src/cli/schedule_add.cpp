#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/schedule.hpp>

#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/task_options.hpp"
#include "documents/json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct ScheduleAddOptions {
  Schedule schedule{.name = {}, .cron = {}, .task = {.kind = {}, .payload = "{}"}};
  std::string missed = "once";
  std::string delay, timeout;
};

std::string_view words_for(Schedules::Added added) {
  switch (added) {
    case Schedules::Added::created:
      return "added";
    case Schedules::Added::changed:
      return "changed";
    case Schedules::Added::as_it_was:
      break;
  }
  return "unchanged";
}

std::optional<WallTime> next_of(const Schedules& schedules, const std::string& name) {
  for (const Schedule& schedule : schedules.list())
    if (schedule.name == name) return schedule.next;
  return {};
}

Exit run_schedule_add(Context& context, const ScheduleAddOptions& options) {
  Schedule schedule = options.schedule;
  schedule.missed = *parse_missed_runs(options.missed);
  auto& task = schedule.task.options;
  if (!options.delay.empty()) task.delay = parse_duration(options.delay, "--delay");
  if (!options.timeout.empty()) task.timeout = parse_duration(options.timeout, "--timeout");
  validate(schedule, context.config().settings);
  Schedules schedules{context.engine()};
  const auto words = words_for(schedules.add(schedule));
  const auto next = next_of(schedules, schedule.name);
  if (context.json)
    context.print_json(JsonObject{}
                           .text("schedule", schedule.name)
                           .text("result", words)
                           .json("next", next ? json_string(iso8601(*next)) : "")
                           .str());
  else
    context.confirm(fmt::format("schedule {} is {}{}", schedule.name, words,
                                next ? fmt::format("; its next time is {}", iso8601(*next)) : ""));
  return Exit::ok;
}

}  // namespace

void add_schedule_add(CLI::App& parent, Context& context) {
  auto options = std::make_shared<ScheduleAddOptions>();
  auto& schedule = options->schedule;
  CLI::App* command =
      parent.add_subcommand("add", "Add a schedule, or change the one of that name");
  command->add_option("NAME", schedule.name, "Its name: a-z, 0-9 and '-'")
      ->required()
      ->type_name("");
  command
      ->add_option("CRON", schedule.cron,
                   "When: minute, hour, day, month, weekday ('0 3 * * mon-fri'), or @daily")
      ->required()
      ->type_name("");
  command->add_option("KIND", schedule.task.kind, "What kind of task to enqueue")
      ->required()
      ->type_name("");
  command->add_option("JSON", schedule.task.payload, "Its payload; default: {}")->type_name("");
  command
      ->add_option("--zone", schedule.zone,
                   "Time zone of CRON, such as Europe/Berlin; default: UTC")
      ->type_name("ZONE");
  command
      ->add_option("--missed", options->missed,
                   "What to do about times that no worker was there for; default: once")
      ->check(CLI::IsMember({"skip", "once", "all"}));
  add_task_options(*command, schedule.task.options);
  command->add_option("--delay", options->delay, "Run no sooner than this after each time")
      ->type_name("DURATION");
  command->add_option("--timeout", options->timeout, "Longest an attempt may take; default: 1h")
      ->type_name("DURATION");
  chosen(*command, context, options, run_schedule_add);
}

}  // namespace holdfast::cli
