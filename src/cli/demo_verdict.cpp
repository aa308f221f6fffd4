#include "cli/demo_verdict.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <holdfast/inspector.hpp>

#include "cli/demo_tasks.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

using Attempts = std::map<TaskId, std::vector<DemoAttempt>>;

std::vector<TaskRecord> all_of_kind(const Inspector& inspector, const std::string& kind) {
  std::vector<TaskRecord> all;
  TaskPage page{.limit = 1'000, .offset = 0, .newest_first = false};
  for (;; page.offset += page.limit) {
    const auto some = inspector.tasks({.kind = kind}, page);
    all.insert(all.end(), some.begin(), some.end());
    if (some.size() < static_cast<std::size_t>(page.limit)) return all;
  }
}

std::int64_t charged_twice(const Attempts& orders) {
  return std::count_if(orders.begin(), orders.end(), [](const auto& entry) {
    std::set<std::string> charges;
    for (const auto& attempt : entry.second)
      if (!attempt.charge.empty()) charges.insert(attempt.charge);
    return charges.size() > 1;
  });
}

/// For each attempt that a kill ended: how long until the order ran again.
std::vector<DemoTime> recovery_times(const Attempts& orders, const std::vector<DemoKill>& kills) {
  std::map<int, DemoTime> killed;
  for (const auto& kill : kills) killed[kill.pid] = kill.at;
  std::vector<DemoTime> times;
  for (const auto& [order, attempts] : orders) {
    for (auto attempt = attempts.begin(); attempt != attempts.end(); ++attempt) {
      const auto kill = killed.find(attempt->pid);
      if (attempt->ended || kill == killed.end()) continue;
      const auto next = std::find_if(attempt, attempts.end(), [&](const DemoAttempt& later) {
        return later.token > attempt->token && later.started > kill->second;
      });
      if (next != attempts.end()) times.push_back(next->started - kill->second);
    }
  }
  std::sort(times.begin(), times.end());
  return times;
}

void judge_store(const Inspector& inspector, const std::set<TaskId>& acknowledged,
                 DemoVerdict& verdict) {
  std::map<TaskId, int> receipts;
  for (const auto& receipt : all_of_kind(inspector, "receipt")) {
    verdict.receipts += receipt.state == TaskState::completed;
    const auto order = TaskId::parse(from_payload<DemoReceipt>(receipt.payload).order);
    if (order) ++receipts[*order];
  }
  for (const auto& [order, count] : receipts) verdict.doubled += count > 1;
  for (const auto& order : all_of_kind(inspector, "order")) {
    if (order.state != TaskState::completed || !acknowledged.contains(order.id)) continue;
    ++verdict.completed;
    // The result names the attempt that made it; the record, the one that held the order last.
    verdict.stale_accepted += from_payload<DemoDone>(order.result).token != order.token.value;
  }
  verdict.lost = verdict.orders - verdict.completed;
  verdict.stale_refused = inspector.stale_writes_refused();
}

double millis(DemoTime time) { return static_cast<double>(time.count()) / 1'000; }

}  // namespace

DemoVerdict judge(const Engine& engine, const std::set<TaskId>& acknowledged,
                  const std::string& ledgers, const std::vector<DemoKill>& kills) {
  DemoVerdict verdict;
  verdict.orders = static_cast<std::int64_t>(acknowledged.size());
  verdict.kills = static_cast<std::int64_t>(kills.size());
  judge_store(Inspector{engine}, acknowledged, verdict);
  const auto orders = read_ledgers(ledgers);
  verdict.doubled += charged_twice(orders);
  const auto times = recovery_times(orders, kills);
  verdict.interrupted = static_cast<std::int64_t>(times.size());
  if (!times.empty()) {
    verdict.slowest_recovery = times.back();
    verdict.median_recovery = times[times.size() / 2];
  }
  return verdict;
}

std::string to_json(const DemoVerdict& verdict, unsigned seed) {
  return JsonObject{}
      .flag("good", verdict.good())
      .number("orders", verdict.orders)
      .number("completed", verdict.completed)
      .number("receipts", verdict.receipts)
      .number("kills", verdict.kills)
      .number("stops", verdict.stops)
      .number("lost", verdict.lost)
      .number("doubled_effects", verdict.doubled)
      .number("stale_writes_refused", verdict.stale_refused)
      .number("stale_writes_accepted", verdict.stale_accepted)
      .number("workers_lost", verdict.workers_lost)
      .number("interrupted_attempts", verdict.interrupted)
      .fraction("slowest_recovery_ms", millis(verdict.slowest_recovery))
      .fraction("median_recovery_ms", millis(verdict.median_recovery))
      .number("seed", seed)
      .str();
}

std::vector<std::string> to_lines(const DemoVerdict& verdict) {
  std::vector<std::string> lines{
      fmt::format("done              {} orders and their {} receipts", verdict.completed,
                  verdict.receipts),
      fmt::format("kills             {} by SIGKILL, {} stopped past their lease", verdict.kills,
                  verdict.stops),
      fmt::format("lost              {}", verdict.lost),
      fmt::format("doubled effects   {}", verdict.doubled),
      fmt::format("stale writes      {} refused, {} accepted", verdict.stale_refused,
                  verdict.stale_accepted),
      fmt::format(
          "slowest recovery  {:.0f} ms from the kill to running again (median {:.0f} ms, {} "
          "attempts)",
          millis(verdict.slowest_recovery), millis(verdict.median_recovery), verdict.interrupted)};
  if (verdict.workers_lost > 0)
    lines.push_back(fmt::format("workers           {} ended although nobody killed them",
                                verdict.workers_lost));
  return lines;
}

}  // namespace holdfast::cli
