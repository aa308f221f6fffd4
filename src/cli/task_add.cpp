#include <cstdio>

#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/tasks.hpp>

#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/interrupts.hpp"
#include "cli/payload_lines.hpp"
#include "cli/progress_bar.hpp"
#include "cli/task_options.hpp"
#include "cli/task_text.hpp"
#include "cli/trace_options.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

// So many are enqueued in one atomic step: enough to make a sync cheap, few enough to be quick.
constexpr std::size_t tasks_at_once = 1'000;
constexpr std::int64_t most_copies = 10'000'000;

struct TaskAddOptions {
  std::string kind;
  std::string payload = "{}";
  std::string file;
  std::int64_t count = 1;
  std::string delay, at, timeout, traceparent;
  std::vector<std::string> after;
  TaskOptions task;
};

NewTask describe(const TaskAddOptions& options) {
  NewTask task{options.kind, options.payload, options.task};
  if (!options.delay.empty()) task.options.delay = parse_duration(options.delay, "--delay");
  if (!options.timeout.empty()) task.options.timeout = parse_duration(options.timeout, "--timeout");
  if (!options.at.empty()) task.options.at = parse_time(options.at, "--at");
  task.options.after = parse_task_ids(options.after);
  if (!options.traceparent.empty()) {
    const auto tags = tags_of_traceparent(options.traceparent);
    task.options.tags.insert(task.options.tags.end(), tags.begin(), tags.end());
  }
  return task;
}

/// Enqueues in chunks, prints the ids of each as soon as it is durable, and stops between two
/// chunks when interrupted.
class Enqueuer {
 public:
  explicit Enqueuer(Context& context) : context_{context} {}

  void add(NewTask task) {
    if (!tasks_) tasks_.emplace(context_.engine());
    validate(task, tasks_->engine().settings());
    waiting_.push_back(std::move(task));
    if (waiting_.size() == tasks_at_once) flush();
  }

  void flush() {
    if (interrupts_.first() != 0)
      throw Interrupted{fmt::format("interrupted; {} tasks are enqueued", enqueued_)};
    if (waiting_.empty()) return;
    for (const TaskId& id : tasks_->enqueue_all(std::exchange(waiting_, {}))) {
      ++enqueued_;
      if (context_.json)
        context_.print_json(JsonObject{}.text("id", id.text()).str());
      else
        context_.say(id.text());
    }
    std::fflush(stdout);
  }

  std::int64_t enqueued() const { return enqueued_; }

 private:
  Context& context_;
  Interrupts interrupts_;  // before the engine, which starts threads
  InterruptWatch watch_{interrupts_, [](int) {}};
  std::optional<Tasks> tasks_;
  std::vector<NewTask> waiting_;
  std::int64_t enqueued_ = 0;
};

// Where the ids scroll by, they are the progress.
Terminal bar_terminal(const Context& context) {
  return context.out.interactive || context.quiet ? Terminal{} : context.err;
}

void add_copies(Enqueuer& enqueuer, Context& context, const NewTask& task, std::int64_t count) {
  ProgressBar bar{bar_terminal(context), "enqueuing"};
  for (std::int64_t i = 0; i < count; ++i) {
    enqueuer.add(task);
    bar.show(i, count, fmt::format("{} of {} tasks", i, count));
  }
  enqueuer.flush();
}

void add_lines(Enqueuer& enqueuer, Context& context, const NewTask& task, const std::string& path) {
  PayloadLines lines{path};
  ProgressBar bar{bar_terminal(context), "enqueuing"};
  try {
    while (auto payload = lines.next()) {
      NewTask next = task;
      next.payload = *std::move(payload);
      enqueuer.add(std::move(next));
      bar.show(lines.bytes_read(), lines.bytes_total(),
               fmt::format("{} tasks", enqueuer.enqueued()));
    }
    enqueuer.flush();
  } catch (const InvalidRequest& error) {
    throw InvalidRequest{fmt::format("{}:{}: {}; the first {} tasks of the file are enqueued",
                                     lines.name(), lines.line(), error.what(),
                                     enqueuer.enqueued())};
  }
}

Exit run_task_add(Context& context, const TaskAddOptions& options) {
  const NewTask task = describe(options);
  if (options.count > 1 && !task.options.unique_key.empty())
    throw InvalidRequest{
        "--unique with --count would enqueue one task and return it again and again; use one of "
        "them"};
  if (options.file.empty()) validate(task, context.config().settings);
  Enqueuer enqueuer{context};
  if (options.file.empty())
    add_copies(enqueuer, context, task, options.count);
  else
    add_lines(enqueuer, context, task, options.file);
  return Exit::ok;
}

}  // namespace

void add_task_add(CLI::App& parent, Context& context) {
  auto options = std::make_shared<TaskAddOptions>();
  CLI::App* command = parent.add_subcommand("add", "Enqueue tasks; prints one id a line");
  command->add_option("KIND", options->kind, "What kind of task, as its handler calls it")
      ->required()
      ->type_name("");
  CLI::Option* payload =
      command->add_option("JSON", options->payload, "Its payload; default: {}")->type_name("");
  add_task_options(*command, options->task);
  CLI::Option* delay =
      command->add_option("--delay", options->delay, "Run no sooner than this from now (10s, 5m)")
          ->type_name("DURATION");
  command->add_option("--at", options->at, "Run no sooner than this (2026-03-01T12:00:00Z)")
      ->type_name("TIME")
      ->excludes(delay);
  command->add_option("--timeout", options->timeout, "Longest an attempt may take; default: 1h")
      ->type_name("DURATION");
  command->add_option("--after", options->after, "Run after this task has completed; repeatable")
      ->allow_extra_args(false)
      ->type_name("ID");
  command
      ->add_option("--traceparent", options->traceparent,
                   "The trace that it belongs to, as W3C's Trace Context writes it")
      ->type_name("CONTEXT");
  CLI::Option* count =
      command->add_option("--count", options->count, "Enqueue so many of them; default: 1")
          ->check(CLI::Range(std::int64_t{1}, most_copies));
  command->add_option("--file", options->file, "One task for each line, a JSON payload; - is stdin")
      ->type_name("JSONL")
      ->excludes(payload)
      ->excludes(count);
  chosen(*command, context, options, run_task_add);
}

}  // namespace holdfast::cli
