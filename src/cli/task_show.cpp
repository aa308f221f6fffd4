#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/http/client.hpp>

#include "cli/command.hpp"
#include "cli/http_options.hpp"
#include "cli/table.hpp"
#include "cli/task_text.hpp"
#include "documents/task_json.hpp"
#include "http/plain_payload.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct TaskShowOptions {
  std::string id;
  PayloadFlags payloads;
};

/// A request, or its answer, is shown as it is in the store, unless somebody says how to open it.
void unseal(TaskRecord& task, const PayloadFlags& flags, Context& context) {
  if (flags.blobs.empty() && flags.keys.empty()) return;
  auto payloads = payloads_of(flags, context);
  payloads.accept_plain = true;  // an operator looks at all there is
  const http::SealedFor owner{task.id, task.kind, task.queue};
  task.payload = http::plain_payload(task.payload, owner, payloads, "this command").text;
  if (task.kind == http::request_kind)
    task.result = http::plain_result(task.result, owner, payloads, "this command");
}

class Sheet {
 public:
  Sheet(Context& context, const TaskRecord& task, WallTime now)
      : context_{context}, task_{task}, now_{now} {}

  void print() const {
    line("task", task_.id.text());
    line("state", std::string{to_string(task_.state)});
    line("kind", task_.kind);
    line("queue", task_.queue);
    line("priority", std::to_string(task_.priority));
    line("attempt", fmt::format("{} of {}", task_.attempt, task_.max_attempts));
    if (task_.recoveries > 0 || task_.crashes > 0)
      line("recovered", fmt::format("{} times, {} crashes are its own{}", task_.recoveries,
                                    task_.crashes, task_.suspect ? "; runs alone next" : ""));
    line("created", time(task_.created_at));
    if (task_.state == TaskState::pending) line("due", time(task_.run_at));
    if (task_.claimed_at) line("claimed", time(*task_.claimed_at));
    if (task_.finished_at) line("finished", time(*task_.finished_at));
    if (task_.worker) line("worker", task_.worker->text());
    if (task_.progress > 0)
      line("progress", fmt::format("{:.0f} % {}", task_.progress * 100, task_.progress_text));
    line("timeout", duration_text(task_.timeout));
    line("unique", task_.unique_key);
    line("limit key", task_.limit_key);
    line("tags", fmt::format("{}", fmt::join(task_.tags, ", ")));
    for (const TaskId& id : task_.waits_for) line("waits for", id.text());
    line("cause", task_.cause);
    line("error", task_.error);
    line("payload", task_.payload);
    line("result", task_.result);
  }

 private:
  // What is empty is left out.
  void line(const char* name, const std::string& value) const {
    if (!value.empty()) context_.say(fmt::format("{:<10} {}", name, value));
  }
  std::string time(WallTime at) const {
    return fmt::format("{} ({})", iso8601(at), age_text(at, now_));
  }

  Context& context_;
  const TaskRecord& task_;
  WallTime now_;
};

void print_history(Context& context, const std::vector<Transition>& history) {
  Table table{{{"AT"}, {"FROM"}, {"TO"}, {"TOKEN", true}, {"ACTOR"}, {"REASON", false, true}}};
  for (const Transition& step : history)
    table.add({iso8601(step.at),
               step.from ? std::string{to_string(*step.from)} : "",
               {std::string{to_string(step.to)}, colour_of(step.to)},
               step.token.value == 0 ? "" : std::to_string(step.token.value),
               step.actor,
               step.reason});
  context.print("\n" + table.text(context.out));
}

Exit run_task_show(Context& context, const TaskShowOptions& options) {
  const TaskId id = parse_task_id(options.id);
  const Inspector inspector = context.inspector();
  TaskRecord task = require_task(inspector, id);
  unseal(task, options.payloads, context);
  const auto history = inspector.history(id);
  if (context.json) {
    context.print_json(task_json(task, history));
    return Exit::ok;
  }
  Sheet{context, task, wall_now()}.print();
  print_history(context, history);
  return Exit::ok;
}

}  // namespace

void add_task_show(CLI::App& parent, Context& context) {
  auto options = std::make_shared<TaskShowOptions>();
  CLI::App* command = parent.add_subcommand("show", "Show everything about a task");
  command->add_option("ID", options->id, "The task")->required()->type_name("");
  add_payload_flags(*command, options->payloads, context);
  chosen(*command, context, options, run_task_show);
}

}  // namespace holdfast::cli
