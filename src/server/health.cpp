#include "server/health.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/error.hpp>
#include <holdfast/inspector.hpp>

#include "documents/json.hpp"
#include "documents/recovery_status.hpp"

namespace holdfast::server {

namespace {

constexpr std::ptrdiff_t most_kinds_told = 5;

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
    if (!queue.paused) count += queue.count(TaskState::pending);
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

/// Kinds that cannot begin in a worker (see `CannotBegin`). Where another one runs them, their
/// tasks are only done more slowly.
std::optional<Check> check_paused_kinds(const std::vector<WorkerStatus>& workers) {
  std::map<std::string, std::string> paused;
  std::set<std::string> run_by_others;
  for (const auto& worker : workers) {
    if (worker.state != WorkerState::running) continue;
    for (const auto& kind : worker.kinds)
      if (!worker.paused_kinds.contains(kind) && !worker.draining) run_by_others.insert(kind);
    for (const auto& [kind, why] : worker.paused_kinds)
      paused.emplace(kind, fmt::format("worker {} on {}: {}", worker.id.text(), worker.host, why));
  }
  if (paused.empty()) return {};
  Check check{"workers", Level::warning, {}};
  std::ptrdiff_t told = 0;
  for (const auto& [kind, why] : paused) {
    const bool by_others = run_by_others.contains(kind);
    if (!by_others) check.level = Level::bad;
    if (++told > most_kinds_told) continue;
    check.sentence +=
        fmt::format("{}Tasks of kind {} cannot begin in {} ({}).", told == 1 ? "" : " ", kind,
                    by_others ? "a worker" : "any worker", why);
  }
  if (told > most_kinds_told)
    check.sentence +=
        fmt::format(" {} more.", some(std::ssize(paused) - most_kinds_told, "kind", "kinds"));
  return check;
}

/// What workers can do without, such as queues that cannot be read while all others are.
std::optional<Check> check_troubles(const std::vector<WorkerStatus>& workers) {
  Check check{"workers", Level::warning, {}};
  std::ptrdiff_t all = 0;
  for (const auto& worker : workers) {
    if (worker.state != WorkerState::running) continue;
    for (const auto& [what, why] : worker.troubles)
      if (++all <= most_kinds_told)
        check.sentence += fmt::format("{}Worker {} on {}: {}: {}.", all == 1 ? "" : " ",
                                      worker.id.text(), worker.host, what, why);
  }
  if (all == 0) return {};
  if (all > most_kinds_told) check.sentence += fmt::format(" {} more.", all - most_kinds_told);
  return check;
}

Check check_workers(const RecoveryStatus& status, std::int64_t ready,
                    const std::vector<WorkerStatus>& workers) {
  if (auto paused = check_paused_kinds(workers)) return *paused;
  if (auto troubles = check_troubles(workers)) return *troubles;
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
    failed += queue.count(TaskState::failed);
    held += queue.count(TaskState::held);
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

/// Names no file: where it is, and what is wrong with it, is for those who run the server.
Check check_tokens(Tokens& tokens) {
  try {
    const auto faults = tokens.list().faults.size();
    if (faults == 0) return {"tokens", Level::good, "The tokens of programs can be read."};
    return {"tokens", Level::warning,
            fmt::format("{} of the file of tokens cannot be read, so these programs are refused; "
                        "'holdfast token list' shows why.",
                        some(static_cast<std::int64_t>(faults), "line", "lines"))};
  } catch (const ConfigError&) {
    return {"tokens", Level::bad,
            "The tokens cannot be read, so all programs are refused; 'holdfast token list' shows "
            "why."};
  }
}

}  // namespace

std::string health_json(const StorePlace& place, const Service& service) {
  const auto trouble = place.trouble();
  const auto* store = place.store();
  std::vector<Check> checks;
  if (!trouble.empty() || !store) {
    checks.push_back({"store", Level::bad, "The store cannot be asked: " + trouble});
  } else {
    const auto queues = Inspector{store->engine}.queues();
    const auto status = recovery_status(store->engine);
    checks = {check_store(*store),
              check_workers(status, ready_tasks(queues), Inspector{store->engine}.workers()),
              check_recovery(status), check_queues(queues)};
  }
  checks.push_back(check_audit_log(service.audit()));
  if (const auto& tokens = service.options().gate.tokens) checks.push_back(check_tokens(*tokens));
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
