#include <signal.h>

#include <cstdio>
#include <optional>

#include <holdfast/error.hpp>

#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/screen.hpp"
#include "cli/top_frame.hpp"
#include "documents/json.hpp"
#include "documents/queue_json.hpp"
#include "documents/recovery_status.hpp"
#include "documents/worker_json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

constexpr Millis shortest_interval{100};
constexpr int reports_shown = 10;
/// Who died or ended longer ago is in `worker list`.
constexpr std::chrono::minutes gone_workers_shown{10};

struct TopOptions {
  std::string interval = "1s";
  bool once = false;
};

TopView look(const Engine& engine) {
  const Inspector inspector{engine};
  TopView view{.at = wall_now(), .store = engine.name(), .durability = inspector.durability()};
  view.queues = inspector.queues();
  view.workers = inspector.workers();
  running_first(view.workers);
  std::erase_if(view.workers, [&](const WorkerStatus& worker) {
    return worker.state != WorkerState::running &&
           view.at - worker.last_heartbeat > gone_workers_shown;
  });
  view.reports = inspector.reports(reports_shown, 0);
  view.totals = inspector.recovery_totals();
  return view;
}

std::string view_json(const TopView& view, const Engine& engine) {
  if (!view.trouble.empty())
    return JsonObject{}.text("at", iso8601(wall_now())).text("trouble", view.trouble).str();
  std::vector<std::string> workers;
  for (const auto& worker : view.workers) workers.push_back(worker_json(worker, view.at));
  return JsonObject{}
      .text("at", iso8601(view.at))
      .json("queues", queues_json(engine, view.queues))
      .json("workers", json_list(workers))
      .json("recovery", recovery_status_json(recovery_status(engine)))
      .str();
}

/// Shows a store again and again, on a screen if there is one.
class Top {
 public:
  Top(Context& context, Engine engine, Nudges& nudges, Millis interval)
      : context_{context}, engine_{std::move(engine)}, nudges_{nudges}, interval_{interval} {}

  void once() {
    only_once_ = true;
    look_again();
    print();
  }

  void run() {
    if (context_.out.interactive && !context_.json) screen_.emplace();
    for (auto nudge = Nudge::none; nudge != Nudge::end; nudge = nudges_.wait(interval_)) {
      if (nudge == Nudge::pause) rest();
      if (nudge == Nudge::none) look_again();
      if (screen_) context_.out = Terminal::of(1);
      screen_ ? draw() : print();
    }
  }

 private:
  void look_again() {
    try {
      auto now = look(engine_);
      // The first look has nothing to compare with but itself.
      before_ = view_.at == WallTime{} ? now : std::move(view_);
      view_ = std::move(now);
    } catch (const StoreError& error) {
      // It waits for the store to come back, with what was last seen there.
      if (only_once_ || view_.at == WallTime{}) throw;
      view_.trouble = error.what();
    }
  }

  /// Ctrl-Z: the terminal is the shell's until we go on.
  void rest() {
    screen_.reset();
    ::raise(SIGSTOP);
    screen_.emplace();
  }

  void draw() { screen_->draw(top_frame(view_, before_, context_.out, Screen::height())); }

  void print() {
    if (context_.json)
      context_.print_json(view_json(view_, engine_));
    else
      context_.print(top_frame(view_, before_, context_.out, 0) + "\n");
    std::fflush(stdout);
  }

  Context& context_;
  Engine engine_;
  Nudges& nudges_;
  Millis interval_;
  bool only_once_ = false;
  TopView view_{}, before_{};
  std::optional<Screen> screen_{};
};

Exit run_top(Context& context, const TopOptions& options) {
  const auto interval = parse_duration(options.interval, "--interval");
  if (interval < shortest_interval)
    throw InvalidRequest{"--interval is too short; allowed: 100ms and more"};
  Nudges nudges;
  Top top{context, context.existing_engine(), nudges, interval};
  if (options.once) {
    top.once();
    return Exit::ok;
  }
  top.run();
  return nudges.interrupted() && !context.out.interactive ? Exit::interrupted : Exit::ok;
}

}  // namespace

void add_top(CLI::App& parent, Context& context) {
  auto options = std::make_shared<TopOptions>();
  CLI::App* command =
      parent.add_subcommand("top", "Watch queues, workers and recoveries live; q ends it");
  command
      ->add_option("--interval", options->interval, "How often it looks, such as 5s; default: 1s")
      ->type_name("TIME");
  command->add_flag("--once", options->once, "Look once, print it and end");
  chosen(*command, context, options, run_top);
}

}  // namespace holdfast::cli
