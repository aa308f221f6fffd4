#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "cli/command.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

struct QueuePauseOptions {
  std::string queue;
};

void print(const Context& context, const std::string& queue, bool paused, std::string_view words) {
  if (context.json)
    context.print_json(JsonObject{}.text("queue", queue).flag("paused", paused).str());
  else
    context.confirm(fmt::format("queue {} {}", queue, words));
}

Exit pause_queue(Context& context, const QueuePauseOptions& options) {
  context.inspector().pause(options.queue);
  print(context, options.queue, true, "is paused; what is running goes on");
  return Exit::ok;
}

Exit resume_queue(Context& context, const QueuePauseOptions& options) {
  context.inspector().resume(options.queue);
  print(context, options.queue, false, "goes on");
  return Exit::ok;
}

void add(CLI::App& parent, Context& context, const std::string& name,
         const std::string& description, Exit (*run)(Context&, const QueuePauseOptions&)) {
  auto options = std::make_shared<QueuePauseOptions>();
  CLI::App* command = parent.add_subcommand(name, description);
  command->add_option("QUEUE", options->queue, "The queue")->required()->type_name("");
  chosen(*command, context, options, run);
}

}  // namespace

void add_queue_pause(CLI::App& parent, Context& context) {
  add(parent, context, "pause", "Start no more tasks of a queue", pause_queue);
}

void add_queue_resume(CLI::App& parent, Context& context) {
  add(parent, context, "resume", "Let a paused queue go on", resume_queue);
}

}  // namespace holdfast::cli
