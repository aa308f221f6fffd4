#include "server/watcher.hpp"

#include <algorithm>
#include <condition_variable>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/error.hpp>

#include "documents/json.hpp"
#include "documents/queue_json.hpp"
#include "documents/recovery_status.hpp"
#include "documents/worker_json.hpp"
#include "recovery/clock.hpp"
#include "server/page.hpp"
#include "server/shown_report.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::server {

namespace {

constexpr Millis pause{1'000};
/// Where looking takes long, it is done less often: a tenth of the time at most.
constexpr int of_the_time = 10;
constexpr Millis longest_first_look{5'000};
constexpr int looks_between_writes = 10;
/// Longer than anybody is silent who lives, and than a look takes.
constexpr Millis figures_within{10 * 60'000};

std::int64_t total(const std::vector<QueueStatus>& queues, TaskState state) {
  std::int64_t sum = 0;
  for (const auto& queue : queues) sum += queue.count(state);
  return sum;
}

std::int64_t total(const std::vector<QueueStatus>& queues) {
  std::int64_t sum = 0;
  for (int i = 0; i < task_state_count; ++i) sum += total(queues, static_cast<TaskState>(i));
  return sum;
}

double per_second(std::int64_t more, Millis time) {
  // Finished tasks are removed at last; that is no negative throughput.
  if (more <= 0 || time <= Millis{0}) return 0;
  return static_cast<double>(more) * 1'000 / static_cast<double>(time.count());
}

}  // namespace

Watcher::Watcher(Engine engine, std::shared_ptr<Hub> hub, std::shared_ptr<History> history)
    : engine_{engine},
      inspector_{engine},
      hub_{std::move(hub)},
      history_{std::move(history)},
      thread_{[this](std::stop_token stop) { watch(std::move(stop)); }} {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, longest_first_look, [&] { return looked_; });
}

std::string Watcher::trouble() const {
  std::lock_guard lock{mutex_};
  return trouble_;
}

void Watcher::watch(std::stop_token stop) {
  for (int round = 1; !stop.stop_requested(); ++round) {
    const auto began = system_clock().steady();
    std::string trouble;
    try {
      look(hub_->clients() > 0);
      if (round % looks_between_writes == 0) history_->flush(system_clock().wall());
    } catch (const std::exception& error) {
      // Whatever it is, the next look may go well; until then callers are told.
      trouble = error.what();
    }
    {
      std::lock_guard lock{mutex_};
      trouble_ = trouble;
      looked_ = true;
    }
    changed_.notify_all();
    rest(stop, system_clock().steady() - began);
  }
  history_->flush(system_clock().wall());
}

/// Somebody who acted ends it, but not before it was as long as the look: acting all the time is no
/// reason to look all the time.
void Watcher::rest(std::stop_token stop, Millis took) {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, stop, took, [] { return false; });
  changed_.wait_for(lock, stop, std::max(pause - 2 * took, (of_the_time - 1) * took),
                    [&] { return acted_; });
  acted_ = false;
}

void Watcher::acted() {
  {
    std::lock_guard lock{mutex_};
    acted_ = true;
  }
  changed_.notify_all();
}

void Watcher::refresh() {
  {
    std::lock_guard lock{looking_};
    if (told_ && system_clock().wall() - *told_ < pause) return;
  }
  look(true);
}

void Watcher::look(bool for_clients) {
  std::lock_guard lock{looking_};
  const auto now = system_clock().wall();
  const auto queues = inspector_.queues();
  auto workers = inspector_.workers();
  if (for_clients) {
    look_at_queues(queues);
    look_at_workers(workers, now);
    look_at_recovery();
    told_ = now;
  }
  if (counted_ && now - counted_->at < pause / 2) return;
  const auto point = measure(queues, workers, now);
  history_->add(point);
  if (for_clients) hub_->publish("point", point_json(point), false);
}

void Watcher::tell(const std::string& type, const std::string& key, const std::string& document) {
  auto& last = last_[type];
  if (last == key) return;
  last = key;
  hub_->publish(type, document, true);
}

void Watcher::look_at_queues(const std::vector<QueueStatus>& queues) {
  std::vector<std::string> changed;
  std::map<std::string, std::string> counts;
  for (const auto& queue : queues) {
    counts[queue.queue] = fmt::format("{}", fmt::join(queue.counts, ","));
    if (queue_counts_[queue.queue] != counts[queue.queue]) changed.push_back(queue.queue);
  }
  queue_counts_ = std::move(counts);
  // Clients get the first page; that something changed behind it, they are told, too.
  const auto page = listed({}, queues, 5'000, 5'000, queue_json);
  const auto document = queues_json(engine_, page.entries, cursor_json(page.next));
  std::size_t rest = 0;
  if (page.next)
    for (const auto& queue : queues) rest = rest * 31 + std::hash<std::string>{}(queue_json(queue));
  tell("queues", fmt::format("{} {}", document, rest), document);
  if (changed.empty()) return;
  const auto names = listed({}, changed, 5'000, 5'000, json_string);
  hub_->publish("tasks",
                JsonObject{}.json("queues", names.entries).flag("complete", !names.next).str(),
                false);
}

void Watcher::look_at_workers(const std::vector<WorkerStatus>& workers, WallTime now) {
  auto sorted = workers;
  running_first(sorted);
  std::size_t key = 0;  // the age alone is no news
  for (const auto& worker : sorted)
    key = key * 31 + std::hash<std::string>{}(worker_json(worker, WallTime{}));
  const auto page = listed({}, sorted, 5'000, 5'000,
                           [&](const auto& worker) { return worker_json(worker, now); });
  tell(
      "workers", std::to_string(key),
      JsonObject{}.json("workers", page.entries).json("next_cursor", cursor_json(page.next)).str());
}

void Watcher::look_at_recovery() {
  constexpr int lately = 10, tasks_of_each = 20;
  const auto document = recovery_status_json(recovery_status(engine_));
  tell("recovery", document, document);
  const bool first = !reports_;
  if (first) reports_.emplace();
  for (const auto& report : inspector_.reports(lately, tasks_of_each)) {
    if (report.state == ReportState::running || !reports_->insert(report.id).second) continue;
    if (!first) hub_->publish("report", shown_report(report, tasks_of_each), false);
  }
}

Point Watcher::measure(const std::vector<QueueStatus>& queues,
                       const std::vector<WorkerStatus>& workers, WallTime now) {
  Counted counted{.at = now, .all = total(queues)};
  Point point{.at = now,
              .pending = total(queues, TaskState::pending),
              .running = total(queues, TaskState::running),
              .blocked = total(queues, TaskState::blocked),
              .held = total(queues, TaskState::held),
              .failed = total(queues, TaskState::failed)};
  point.workers = std::ranges::count(workers, WorkerState::running, &WorkerStatus::state);
  if (counted_) point.enqueued_per_s = per_second(counted.all - counted_->all, now - counted_->at);
  const auto rates = roll_.look(engine_.parts().workers().figures(figures_within), now);
  point.completed_per_s = rates.completed_per_s;
  point.failed_per_s = rates.failed_per_s;
  point.retried_per_s = rates.retried_per_s;
  point.run = rates.run;
  point.wait = rates.wait;
  point.set_percentiles(rates.run_lately, rates.wait_lately);
  const auto totals = inspector_.recovery_totals();
  point.recoveries = totals.recoveries;
  point.stale_writes_refused = totals.stale_writes_refused;
  counted_ = counted;
  return point;
}

std::vector<Figures::OfKind> Watcher::last_hour() {
  std::lock_guard lock{looking_};
  return roll_.last_hour();
}

}  // namespace holdfast::server
