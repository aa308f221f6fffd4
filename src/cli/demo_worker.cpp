#include <sys/prctl.h>

#include <condition_variable>
#include <csignal>
#include <mutex>

#include <holdfast/holdfast.hpp>

#include "cli/command.hpp"
#include "cli/demo_ledger.hpp"
#include "cli/demo_tasks.hpp"

namespace holdfast::cli {

namespace {

struct DemoWorkerOptions {
  std::string ledgers;
  int interval_ms = 0;
};

/// Stands for something that takes time, such as calling a bank.
void work_for(Millis length, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock{mutex};
  std::condition_variable_any never;
  never.wait_for(lock, stop, length, [] { return false; });
}

Outcome handle(const DemoOrder& order, Attempt& attempt, const DemoLedger& ledger) {
  ledger.started(attempt.task(), attempt.token());
  const auto charge = attempt.record_once("charge", std::to_string(attempt.token().value));
  ledger.charged(attempt.task(), attempt.token(), charge);
  work_for(Millis{order.ms}, attempt.stop_token());
  attempt.then("receipt", DemoReceipt{attempt.task().text()});
  ledger.ended(attempt.task(), attempt.token());
  return done_with(DemoDone{attempt.token().value});
}

Exit run_demo_worker(Context& context, const DemoWorkerOptions& options) {
  // Killing the demo must not leave its workers behind.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Settings settings = context.config().settings;
  if (options.interval_ms > 0) {
    settings.heartbeat.interval = Millis{options.interval_ms};
    settings.heartbeat.detection_interval = Millis{options.interval_ms};
  }
  settings.worker.concurrency = 4;
  const DemoLedger ledger{options.ledgers};
  const Engine engine = open(context.store_address(), settings);
  log_to_stderr(engine, Severity::info);
  Tasks tasks{engine};
  tasks.on<DemoOrder>("order", [&](const DemoOrder& order, Attempt& attempt) {
    return handle(order, attempt, ledger);
  });
  tasks.on<DemoReceipt>("receipt", [](const DemoReceipt&, Attempt&) { return done; });
  holdfast::run(tasks);
  return Exit::ok;
}

}  // namespace

void add_demo_worker(CLI::App& parent, Context& context) {
  auto options = std::make_shared<DemoWorkerOptions>();
  CLI::App* command = parent.add_subcommand("demo-worker", "One of the demo's workers");
  command->group("");  // started by the demo, not by people
  command->add_option("--ledgers", options->ledgers)->required();
  command->add_option("--interval", options->interval_ms);
  chosen(*command, context, options, run_demo_worker);
}

}  // namespace holdfast::cli
