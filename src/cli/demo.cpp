#include <stdlib.h>

#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <stop_token>

#include <fmt/format.h>

#include <holdfast/holdfast.hpp>

#include "cli/command.hpp"
#include "cli/demo_tasks.hpp"
#include "cli/demo_verdict.hpp"
#include "cli/demo_worker.hpp"
#include "cli/interrupts.hpp"
#include "cli/progress_bar.hpp"

namespace holdfast::cli {

namespace {

struct DemoOptions {
  int seconds = 20;
  int workers = 4;
  unsigned seed = 0;
  std::string keep;
};

constexpr int zombie_interval_ms = 200;
constexpr Millis tick{50};
constexpr Millis plain_line_every{2'000};
constexpr std::int64_t backlog = 200;

/// Where the demo happens; gone at the end unless it is to be kept.
class Folder {
 public:
  explicit Folder(const std::string& keep) : kept_{!keep.empty()} {
    std::string pattern = std::filesystem::temp_directory_path() / "holdfast-demo-XXXXXX";
    if (!kept_ && !::mkdtemp(pattern.data()))
      throw std::system_error{errno, std::generic_category(), "cannot make " + pattern};
    path_ = kept_ ? keep : pattern;
    if (kept_ && std::filesystem::exists(path_ / "demo.db"))
      throw InvalidRequest{
          fmt::format("{} has the store of another demo; name another folder", path_.string())};
    std::filesystem::create_directories(path_ / "ledgers");
  }
  ~Folder() {
    std::error_code ignored;  // what stays in the temporary folder, the system removes
    if (!kept_) std::filesystem::remove_all(path_, ignored);
  }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool kept_;
};

class Demo {
 public:
  Demo(Context& context, const DemoOptions& options, const std::string& folder,
       std::stop_token stop)
      : context_{context},
        options_{options},
        folder_{folder},
        stop_{std::move(stop)},
        engine_{open("sqlite:" + folder + "/demo.db")},
        fleet_{folder},
        random_{options.seed} {}

  /// False: interrupted.
  bool run();
  DemoVerdict verdict();
  /// The newest that took something back.
  RecoveryReport last_report() const {
    for (auto& report : Inspector{engine_}.reports(100))
      if (!report.tasks.empty()) return report;
    return {};
  }

 private:
  void kill_for(Millis length);
  void stop_for(Millis length);
  bool stop_outside_a_write(std::size_t n);
  void finish();
  void feed(int shortest_ms, int longest_ms);
  void show();
  bool pause(Millis time);
  int between(int least, int most) {
    return std::uniform_int_distribution<int>{least, most}(random_);
  }
  std::int64_t count(std::initializer_list<TaskState> states) const;
  std::int64_t unfinished() const {
    return count({TaskState::pending, TaskState::running, TaskState::blocked, TaskState::held});
  }
  std::int64_t finished() const { return count({TaskState::completed, TaskState::failed}); }
  void announce(const std::string& line) const {
    if (context_.json) return;
    context_.confirm(line);
    std::fflush(stdout);  // whoever reads a pipe wants to see it now
  }

  Context& context_;
  const DemoOptions& options_;
  std::string folder_;
  std::stop_token stop_;
  Engine engine_;
  DemoFleet fleet_;
  std::mt19937 random_;
  std::set<TaskId> acknowledged_;
  std::int64_t stops_ = 0;
  std::int64_t workers_lost_ = 0;
  DemoTime began_ = demo_now();
  DemoTime last_line_{};
  std::optional<ProgressBar> bar_;
};

bool Demo::run() {
  announce(
      fmt::format("{} workers, default settings; one of them is killed (SIGKILL) every 0.3 to "
                  "0.5 s. Seed {}.",
                  options_.workers, options_.seed));
  bar_.emplace(context_.err, "demo");
  kill_for(std::chrono::seconds{options_.seconds} * 13 / 20);
  if (stop_.stop_requested()) return false;
  bar_.reset();
  announce(
      fmt::format("Now some are stopped (SIGSTOP) past their lease and go on later. For this "
                  "their heartbeat is {} ms instead of 30 s.",
                  zombie_interval_ms));
  bar_.emplace(context_.err, "demo");
  fleet_.dismiss();
  stop_for(std::chrono::seconds{options_.seconds} * 5 / 20);
  if (stop_.stop_requested()) return false;
  finish();
  bar_.reset();
  return !stop_.stop_requested();
}

void Demo::kill_for(Millis length) {
  const auto end = demo_now() + length;
  const auto workers = static_cast<std::size_t>(options_.workers);
  auto next_kill = demo_now() + Millis{700};  // let them begin
  while (demo_now() < end && !stop_.stop_requested()) {
    fleet_.fill(workers, 0);
    feed(2, 8);
    show();
    if (demo_now() >= next_kill) {
      fleet_.kill(static_cast<std::size_t>(between(0, options_.workers - 1)));
      next_kill = demo_now() + Millis{between(300, 500)};
    }
    pause(tick);
    workers_lost_ += static_cast<std::int64_t>(fleet_.take_lost());
  }
}

void Demo::stop_for(Millis length) {
  const auto end = demo_now() + length;
  fleet_.fill(static_cast<std::size_t>(options_.workers), zombie_interval_ms);
  while (demo_now() < end && !stop_.stop_requested()) {
    const auto zombie = static_cast<std::size_t>(between(0, options_.workers - 1));
    for (int i = 0; i < 6 && pause(tick); ++i) feed(20, 60);
    show();
    if (!stop_outside_a_write(zombie)) continue;
    ++stops_;
    // The lease is three heartbeats; then the others look, take its orders and run them.
    const auto until = demo_now() + Millis{zombie_interval_ms * 5};
    while (demo_now() < until && pause(tick)) show();
    fleet_.carry_on(zombie);
  }
}

bool Demo::stop_outside_a_write(std::size_t n) {
  fleet_.stop(n);
  // In the middle of a write it would stop everybody, us too if we wrote now. Reading is free.
  const auto before = finished();
  const auto until = demo_now() + Millis{500};
  while (demo_now() < until && pause(tick))
    if (finished() != before) return true;
  fleet_.carry_on(n);
  return false;
}

void Demo::finish() {
  // Whatever is not finished after this time is counted as lost.
  const auto limit = demo_now() + std::chrono::seconds{30};
  while (unfinished() > 0 && demo_now() < limit && pause(tick)) show();
  workers_lost_ += static_cast<std::int64_t>(fleet_.take_lost());
  fleet_.dismiss();
}

void Demo::feed(int shortest_ms, int longest_ms) {
  if (unfinished() >= backlog) return;
  std::vector<NewTask> orders;
  for (int i = 0; i < 50; ++i)
    orders.push_back({"order", to_payload(DemoOrder{between(shortest_ms, longest_ms)}),
                      TaskOptions{.max_attempts = 20}});
  for (const auto id : Tasks{engine_}.enqueue_all(std::move(orders))) acknowledged_.insert(id);
}

std::int64_t Demo::count(std::initializer_list<TaskState> states) const {
  std::int64_t total = 0;
  for (const auto& queue : Inspector{engine_}.queues())
    for (const auto state : states) total += queue.count(state);
  return total;
}

void Demo::show() {
  const auto total = static_cast<std::int64_t>(acknowledged_.size());
  const auto words = fmt::format("{} orders so far, {} kills, {} stops, {} tasks to do", total,
                                 fleet_.kills().size(), stops_, unfinished());
  const auto elapsed = demo_now() - began_;
  bar_->show(elapsed.count(), DemoTime{std::chrono::seconds{options_.seconds}}.count(), words);
  if (context_.err.interactive || demo_now() - last_line_ < plain_line_every) return;
  last_line_ = demo_now();
  announce(fmt::format("{:4.1f} s  {}", static_cast<double>(elapsed.count()) / 1e6, words));
}

bool Demo::pause(Millis time) {
  std::mutex mutex;
  std::unique_lock lock{mutex};
  std::condition_variable_any never;
  never.wait_for(lock, stop_, time, [] { return false; });
  return !stop_.stop_requested();
}

DemoVerdict Demo::verdict() {
  auto verdict = judge(engine_, acknowledged_, folder_ + "/ledgers", fleet_.kills());
  verdict.stops = stops_;
  verdict.workers_lost = workers_lost_;
  return verdict;
}

void print_report(const Context& context, const RecoveryReport& report) {
  context.say(fmt::format("Last recovery ({}): {} dead, {} tasks taken back in {} ms",
                          report.trigger, report.dead_workers.size(), report.tasks.size(),
                          report.duration.count()));
  for (const auto& worker : report.dead_workers)
    context.say(
        fmt::format("  worker {} (pid {}): {}", worker.id.text(), worker.pid, worker.cause));
  constexpr std::size_t few = 4;
  for (std::size_t i = 0; i < std::min(few, report.tasks.size()); ++i)
    context.say(fmt::format("  task {}: {}; {}", report.tasks[i].id.text(),
                            to_string(report.tasks[i].now), report.tasks[i].reason));
  if (report.tasks.size() > few)
    context.say(fmt::format("  and {} more", report.tasks.size() - few));
}

Exit run_demo(Context& context, const DemoOptions& given) {
  DemoOptions options = given;
  if (options.seed == 0) options.seed = std::random_device{}();
  Interrupts interrupts;
  std::stop_source interrupted;
  const Folder folder{options.keep};
  Demo demo{context, options, folder.path(), interrupted.get_token()};
  const InterruptWatch watch{interrupts, [&](int) { interrupted.request_stop(); }};
  if (!demo.run()) return Exit::interrupted;

  const auto verdict = demo.verdict();
  if (context.json) {
    context.print_json(to_json(verdict, options.seed));
  } else {
    print_report(context, demo.last_report());
    for (const auto& line : to_lines(verdict)) context.say(line);
    context.print(painted(context.out, verdict.good() ? Colour::green : Colour::red,
                          verdict.good() ? "Nothing was lost.\n" : "This must not happen.\n"));
  }
  return verdict.good() ? Exit::ok : Exit::refused;
}

}  // namespace

void add_demo(CLI::App& parent, Context& context) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* command =
      parent.add_subcommand("demo", "Kill workers at random and see that nothing is lost");
  command->add_option("--seconds", options->seconds, "How long, about")
      ->check(CLI::Range(4, 3'600));
  command->add_option("--workers", options->workers, "Worker processes")->check(CLI::Range(2, 64));
  command->add_option("--seed", options->seed, "Repeat the course of kills of an earlier run");
  command->add_option("--keep", options->keep, "Use this folder and keep it")->type_name("DIR");
  chosen(*command, context, options, run_demo);
  add_demo_worker(parent, context);
}

}  // namespace holdfast::cli
