#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/schedule.hpp>

#include "cli/command.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

struct SchedulePauseOptions {
  std::string name;
};

/// What `pause`, `resume` and `remove` have in common.
Exit act(Context& context, const std::string& name, bool (Schedules::*action)(const std::string&),
         std::string_view words) {
  Schedules schedules{context.existing_engine()};
  if (!(schedules.*action)(name))
    throw InvalidRequest{fmt::format(
        "there is no schedule '{}' in this store; 'holdfast schedule list' lists those there are",
        name)};
  if (context.json)
    context.print_json(JsonObject{}.text("schedule", name).text("result", words).str());
  else
    context.confirm(fmt::format("schedule {} is {}", name, words));
  return Exit::ok;
}

Exit pause_schedule(Context& context, const SchedulePauseOptions& options) {
  return act(context, options.name, &Schedules::pause, "paused");
}

Exit resume_schedule(Context& context, const SchedulePauseOptions& options) {
  return act(context, options.name, &Schedules::resume, "resumed");
}

Exit remove_schedule(Context& context, const SchedulePauseOptions& options) {
  return act(context, options.name, &Schedules::remove, "removed");
}

void add(CLI::App& parent, Context& context, const std::string& name,
         const std::string& description, Exit (*run)(Context&, const SchedulePauseOptions&)) {
  auto options = std::make_shared<SchedulePauseOptions>();
  CLI::App* command = parent.add_subcommand(name, description);
  command->add_option("NAME", options->name, "The schedule")->required()->type_name("");
  chosen(*command, context, options, run);
}

}  // namespace

void add_schedule_pause(CLI::App& parent, Context& context) {
  add(parent, context, "pause", "Enqueue nothing until it is resumed", pause_schedule);
}

void add_schedule_resume(CLI::App& parent, Context& context) {
  add(parent, context, "resume", "Go on with the next time", resume_schedule);
}

void add_schedule_remove(CLI::App& parent, Context& context) {
  add(parent, context, "remove", "Remove a schedule; its tasks stay", remove_schedule);
}

}  // namespace holdfast::cli
