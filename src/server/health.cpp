#include "server/health.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/inspector.hpp>

#include "documents/json.hpp"
#include "documents/recovery_status.hpp"

namespace holdfast::server {

namespace {

enum class Level { good, warning, bad };

struct Check {
  std::string about;
  Level level = Level::good;
  std::string sentence;
};

std::string_view to_string(Level level) {
  if (level == Level::good) return "good";
  return level == Level::warning ? "warning" : "bad";
}

/// `1 task`, `2 tasks`.
std::string some(std::int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::int64_t ready_tasks(const std::vector<QueueStatus>& queues) {
  std::int64_t count = 0;
  for (const auto& queue : queues)
    if (!queue.paused) count += queue.counts[static_cast<std::size_t>(TaskState::pending)];
  return count;
}

Check check_store(const WatchedStore& store) {
  const Inspector inspector{store.engine};
  if (inspector.run_level() != RunLevel::normal)
    return {"store", Level::bad,
            fmt::format("The store is {}: {}", to_string(inspector.run_level()),
                        inspector.why_read_only())};
  if (const auto to = inspector.moved_to(); !to.empty())
    return {"store", Level::bad, fmt::format("The store was moved to {}.", to)};
  if (const auto refusal = store.history->refusal(); !refusal.empty())
    return {"store", Level::bad, "The store answers and cannot be written: " + refusal};
  const auto warning = inspector.durability_warning();
  if (!warning.empty()) return {"store", Level::warning, warning};
  return {"store", Level::good,
          fmt::format("The store answers and is {}.", inspector.durability())};
}

Check check_workers(const RecoveryStatus& status, std::int64_t ready) {
  const auto running = status.count(WorkerState::running);
  const auto text = fmt::format("{} worker{} running", running, running == 1 ? " is" : "s are");
  if (running > 0 || ready == 0) return {"workers", Level::good, text + "."};
  return {"workers", Level::bad,
          fmt::format("No worker is running, and {}; start one with 'holdfast worker run'.",
                      some(ready, "task waits", "tasks wait"))};
}

Check check_recovery(const RecoveryStatus& status) {
  if (!status.alarm.empty()) return {"recovery", Level::bad, status.alarm};
  if (status.at_work) return {"recovery", Level::warning, "A recovery is at work now."};
  if (status.waiting > 0)
    return {
        "recovery", Level::warning,
        fmt::format("{} about to be taken back.",
                    some(status.waiting, "task of a dead worker is", "tasks of dead workers are"))};
  if (status.totals.recoveries == 0)
    return {"recovery", Level::good, "No worker of this store has ever died."};
  return {"recovery", Level::good,
          fmt::format("Nothing waits; {} took back {} so far.",
                      some(status.totals.recoveries, "recovery", "recoveries"),
                      some(status.totals.orphans.taken(), "task", "tasks"))};
}

Check check_queues(const std::vector<QueueStatus>& queues) {
  std::int64_t failed = 0, held = 0, paused = 0;
  for (const auto& queue : queues) {
    failed += queue.counts[static_cast<std::size_t>(TaskState::failed)];
    held += queue.counts[static_cast<std::size_t>(TaskState::held)];
    paused += queue.paused ? 1 : 0;
  }
  if (failed == 0 && held == 0 && paused == 0)
    return {"queues", Level::good, "No task has failed, none is held, no queue is paused."};
  return {"queues", Level::warning,
          fmt::format("{} failed, {} held, {} paused.", some(failed, "task has", "tasks have"),
                      some(held, "is", "are"), some(paused, "queue is", "queues are"))};
}

Check check_audit_log(const Audit& audit) {
  const auto findings = audit.findings();
  if (findings.empty()) return {"audit", Level::good, "The audit log is intact."};
  return {"audit", Level::bad, fmt::format("{}", fmt::join(findings, " "))};
}

}  // namespace

std::string health_json(const StorePlace& place, const Audit& audit) {
  const auto trouble = place.trouble();
  const auto* store = place.store();
  std::vector<Check> checks;
  if (!trouble.empty() || !store) {
    checks.push_back({"store", Level::bad, "The store cannot be asked: " + trouble});
  } else {
    const auto queues = Inspector{store->engine}.queues();
    const auto status = recovery_status(store->engine);
    checks = {check_store(*store), check_workers(status, ready_tasks(queues)),
              check_recovery(status), check_queues(queues)};
  }
  checks.push_back(check_audit_log(audit));
  auto worst = Level::good;
  std::vector<std::string> documents;
  for (const auto& check : checks) {
    worst = std::max(worst, check.level);
    documents.push_back(JsonObject{}
                            .text("about", check.about)
                            .text("level", to_string(check.level))
                            .text("sentence", check.sentence)
                            .str());
  }
  return JsonObject{}.text("level", to_string(worst)).json("checks", json_list(documents)).str();
}

}  // namespace holdfast::server
