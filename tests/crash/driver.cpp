// The program that the crash tests start, kill, stop and start again. It does what a user's program
// would, through the public API, and says in a journal what it does.
//
//     crash_driver MODE store=ADDRESS journals=FOLDER [name=value ...]

#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>

#include <fmt/format.h>

#include <holdfast/limit.hpp>
#include <holdfast/metrics.hpp>
#include <holdfast/sqlite.hpp>

#include "crash/driver_calendar.hpp"
#include "crash/driver_own.hpp"
#include "crash/driver_tasks.hpp"
#include "engines/sqlite/file_lock.hpp"
#include "engines/sqlite/side_files.hpp"
#include "exec/exec_handler.hpp"
#include "recovery/recovery_action.hpp"
#include "tasks/engine_parts.hpp"
#include "tasks/store_move.hpp"

namespace holdfast::test {
namespace {

class Arguments {
 public:
  Arguments(int argc, char** argv) {
    for (int i = 2; i < argc; ++i) {
      std::string text{argv[i]};
      auto equals = text.find('=');
      values_[text.substr(0, equals)] = text.substr(equals + 1);
    }
  }
  std::string text(const std::string& name, std::string otherwise = {}) const {
    auto found = values_.find(name);
    return found == values_.end() ? std::move(otherwise) : found->second;
  }
  int number(const std::string& name, int otherwise = 0) const {
    auto given = text(name);
    return given.empty() ? otherwise : std::stoi(given);
  }

 private:
  std::map<std::string, std::string> values_;
};

Settings settings(const Arguments& given) {
  Settings settings;
  settings.heartbeat.interval = Millis{given.number("interval", 30'000)};
  settings.heartbeat.detection_interval = Millis{given.number("detection", 60'000)};
  settings.recovery.max_recovery_attempts = given.number("crashes", 3);
  settings.worker.concurrency = given.number("concurrency", 4);
  settings.worker.prefetch = given.number("prefetch", settings.worker.prefetch);
  settings.worker.drain_timeout = Millis{given.number("drain", 30'000)};
  if (given.number("forget")) {
    settings.retention.completed = std::chrono::hours{0};
    settings.retention.max_finished = 0;
  }
  return settings;
}

std::vector<NewTask> some_orders(const Arguments& given, int count, unsigned& seed) {
  std::vector<NewTask> orders;
  for (int i = 0; i < count; ++i) {
    Order order{.ms = given.number("ms", -1), .manner = given.text("manner", "plain")};
    if (order.ms < 0) order.ms = static_cast<int>(rand_r(&seed) % 21);
    order.padding.assign(static_cast<std::size_t>(given.number("padding")), 'x');
    TaskOptions options{.max_attempts = given.number("attempts", 3), .id = TaskId::make()};
    if (i > 0 && given.number("after_first")) options.after = {*orders.front().options.id};
    orders.push_back({given.text("kind", "order"), to_payload(order), options});
  }
  return orders;
}

/// Enqueues `count` orders, `batch` in one step, with `pause` milliseconds between the steps.
void enqueue(Tasks& tasks, const Journal& journal, const Arguments& given) {
  auto seed = static_cast<unsigned>(::getpid());
  int batch = given.number("batch", 20);
  for (int left = given.number("count", 20); left > 0; left -= batch) {
    auto orders = some_orders(given, std::min(left, batch), seed);
    for (const auto& each : orders) journal.say(Said::enqueueing, *each.options.id);
    for (auto id : tasks.enqueue_all(std::move(orders))) {
      journal.say(Said::enqueued, id);
      if (given.number("print")) fmt::print("{}\n", id.text());
    }
    ::usleep(static_cast<useconds_t>(given.number("pause")) * 1'000);
  }
}

void work(Tasks& tasks, const Arguments& given) {
  // A thread that is there before, as those of metrics and traces are.
  std::optional<MetricsFile> metrics;
  if (given.number("metrics"))
    metrics.emplace(tasks.engine(), given.text("journals") + "/../metrics");
  auto summary = run(tasks, {.until_empty = given.number("until_empty") != 0});
  fmt::print("completed {} given_back {} refused {}\n", summary.completed, summary.given_back,
             summary.refused);
}

/// Takes the place of a process that was stopped in the middle of a write.
void hold_the_write_lock(const Arguments& given) {
  auto path = given.text("store").substr(std::string_view{"sqlite:"}.size());
  sqlite::FairLock lock{sqlite::SideFiles{path}.write_lock()};
  lock.acquire();
  fmt::print("locked\n");
  std::fflush(stdout);
  for (;;) ::pause();
}

/// Claims many and does nothing with them, until it is killed.
void hoard(EngineParts& parts, const Arguments& given) {
  auto enlistment = parts.workers().enlist({.queues = {}, .kinds = {"order"}});
  auto left = given.number("count", 1'000);
  while (left > 0) {
    ClaimRequest claim{.worker = enlistment->id(), .kinds = {"order"}, .limit = left};
    auto claimed = parts.tasks().exchange({.claim = claim}).claimed.size();
    if (claimed == 0) throw std::runtime_error{"there is not so much to hoard"};
    left -= static_cast<int>(claimed);
  }
  fmt::print("hoarded\n");
  std::fflush(stdout);
  for (;;) ::pause();
}

void recover(Inspector& inspector, const Arguments& given) {
  auto report = inspector.recover(parse_recovery_action(given.text("action")));
  fmt::print("recovered {} dead {}\n", report.orphans.taken(), report.dead_workers.size());
}

/// A backup is made, put back, and everything that is held for that is released.
void back_up_and_restore(const Arguments& given) {
  auto file = given.text("journals") + "/../copy.db";
  sqlite::backup(open(given.text("store"), settings(given)), file, {.overwrite = true});
  auto path = given.text("store").substr(std::string_view{"sqlite:"}.size());
  sqlite::restore(path, file, {.overwrite = true});
  Inspector{open(given.text("store"), settings(given))}.retry({.states = {TaskState::held}});
}

void move_store(const Engine& engine, const Arguments& given) {
  auto to = open(given.text("to"), settings(given));
  StoreMove{engine, to, {.finished = true}, [](const std::string&) {}}.run();
}

void keep_calendar(const Arguments& given) {
  Journal journal{given.text("journals")};
  auto path = given.text("store").substr(std::string_view{"sqlite:"}.size());
  WallTime origin{Millis{std::stoll(given.text("since"))}};
  keep_a_fast_calendar(path, settings(given), origin, given.number("speed", 1), journal);
}

int drive(const std::string& mode, const Arguments& given) {
  if (mode == "hold_lock") hold_the_write_lock(given);
  if (mode == "calendar") {
    keep_calendar(given);
    return 0;
  }
  if (mode == "restore") {
    back_up_and_restore(given);
    return 0;
  }
  Journal journal{given.text("journals")};
  auto engine = open(given.text("store"), settings(given));
  log_to_stderr(engine, Severity::warning);
  listen(engine, journal);
  Tasks tasks{engine};
  Inspector inspector{engine};
  if (mode == "enqueue") {
    enqueue(tasks, journal, given);
  } else if (mode == "work") {
    add_handlers(tasks, journal);
    work(tasks, given);
  } else if (mode == "work_own") {
    OwnTables tables{engine, given.text("store")};
    tables.add_handler(tasks, journal);
    work(tasks, given);
    tables.expect_one_row_for_each_task();
  } else if (mode == "work_programs") {
    tasks.on_json("program", exec_handler({.command = {"/bin/true"}}));
    work(tasks, given);
  } else if (mode == "recover") {
    recover(inspector, given);
  } else if (mode == "hoard") {
    hoard(engine.parts(), given);
  } else if (mode == "cancel") {
    inspector.cancel({.states = {TaskState::pending}});
  } else if (mode == "plan") {
    plan(engine);
  } else if (mode == "fire") {
    fire_what_is_due(engine, journal);
  } else if (mode == "limit") {
    Limits{engine}.set({.scope = LimitScope::kind, .name = "order", .max_running = 2});
  } else if (mode == "history") {
    auto now = engine.parts().clock().wall();
    engine.parts().metrics_history()->keep(std::array{HistoryPoint{1, now, "how it was"}}, {});
  } else if (mode == "move") {
    move_store(engine, given);
  } else if (mode == "prune") {
    inspector.prune();
  } else {
    fmt::print(stderr, "no such mode: {}\n", mode);
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace holdfast::test

int main(int argc, char** argv) {
  // A test that ends early must not leave drivers behind.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    return holdfast::test::drive(argc > 1 ? argv[1] : "", holdfast::test::Arguments{argc, argv});
  } catch (const std::exception& error) {
    fmt::print(stderr, "crash_driver: {}\n", error.what());
    return 1;
  }
}
