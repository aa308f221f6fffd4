#include "tasks/store_metrics.hpp"

#include "recovery/metrics_text.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast {

namespace {

double seconds_since_1970(WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

/// Each has nine samples, and there is no asking for the next page of a scrape.
constexpr std::size_t most_queues = 500;

/// Those beyond the most together, as one without a name.
std::vector<QueueStatus> bounded(const std::vector<QueueStatus>& queues) {
  if (queues.size() <= most_queues) return queues;
  std::vector<QueueStatus> shown{queues.begin(), queues.begin() + most_queues};
  QueueStatus rest;
  for (auto i = most_queues; i < queues.size(); ++i) {
    const auto& queue = queues[i];
    for (int state = 0; state < task_state_count; ++state)
      rest.counts[state] += queue.counts[state];
    rest.paused = rest.paused || queue.paused;
    if (queue.oldest_pending)
      rest.oldest_pending =
          std::min(rest.oldest_pending.value_or(*queue.oldest_pending), *queue.oldest_pending);
  }
  shown.push_back(std::move(rest));
  return shown;
}

void add_queues(MetricsText& text, const std::vector<QueueStatus>& all, WallTime now) {
  const auto queues = bounded(all);
  text.family("holdfast_store_tasks", "Tasks in the store, by queue and state.", "gauge");
  for (const auto& queue : queues) {
    for (int i = 0; i < task_state_count; ++i) {
      std::string state{to_string(static_cast<TaskState>(i))};
      text.sample("holdfast_store_tasks", {{"queue", queue.queue}, {"state", state}},
                  static_cast<double>(queue.counts[i]));
    }
  }
  text.family("holdfast_store_queue_paused", "1 where a queue starts no more tasks.", "gauge");
  for (const auto& queue : queues)
    text.sample("holdfast_store_queue_paused", {{"queue", queue.queue}}, queue.paused);
  text.family("holdfast_store_oldest_ready_seconds",
              "How long the task that has been ready longest has been waiting.", "gauge");
  for (const auto& queue : queues) {
    auto waits = queue.oldest_pending ? now - *queue.oldest_pending : Millis{0};
    text.sample("holdfast_store_oldest_ready_seconds", {{"queue", queue.queue}},
                std::max(std::chrono::duration<double>(waits).count(), 0.0));
  }
}

void add_workers(MetricsText& text, const std::vector<WorkerStatus>& workers) {
  double counts[3] = {};
  for (const auto& worker : workers) ++counts[static_cast<int>(worker.state)];
  text.family("holdfast_store_workers", "Workers that the store knows of, by state.", "gauge");
  text.sample("holdfast_store_workers", {{"state", "running"}}, counts[0]);
  text.sample("holdfast_store_workers", {{"state", "stopped"}}, counts[1]);
  text.sample("holdfast_store_workers", {{"state", "dead"}}, counts[2]);
}

void add_totals(MetricsText& text, const RecoveryTotals& totals) {
  auto add = [&](const char* name, const char* help, std::int64_t value) {
    text.family(name, help, "counter");
    text.sample(name, {}, static_cast<double>(value));
  };
  add("holdfast_store_recoveries_total",
      "Runs of recovery that found anything, since the store was made.", totals.recoveries);
  text.family("holdfast_store_orphans_total",
              "Tasks of dead workers since the store was made, by what was decided.", "counter");
  const auto& orphans = totals.orphans;
  for (const auto& [decision, count] : std::initializer_list<std::pair<const char*, std::int64_t>>{
           {"pending", orphans.pending},
           {"failed", orphans.failed},
           {"held", orphans.held},
           {"cancelled", orphans.cancelled},
           {"not_taken", orphans.not_taken}})
    text.sample("holdfast_store_orphans_total", {{"decision", decision}},
                static_cast<double>(count));
  add("holdfast_store_workers_dead_total", "Workers declared dead since the store was made.",
      totals.dead_workers);
  add("holdfast_store_stale_writes_refused_total", "Stale writes refused since the store was made.",
      totals.stale_writes_refused);
}

void add_last_recovery(MetricsText& text, const std::vector<RecoveryReport>& newest) {
  text.family("holdfast_store_last_recovery_timestamp_seconds",
              "When recovery last found anything; 0: never.", "gauge");
  text.sample("holdfast_store_last_recovery_timestamp_seconds", {},
              newest.empty() ? 0 : seconds_since_1970(newest.front().completed_at));
}

void add_run_level(MetricsText& text, RunLevel level) {
  text.family("holdfast_store_run_level", "0: normal, 1: read-only, 2: halted.", "gauge");
  text.sample("holdfast_store_run_level", {}, static_cast<double>(level));
}

}  // namespace

std::string store_metrics(const Engine& engine) {
  return store_metrics(engine, Inspector{engine}.queues());
}

std::string store_metrics(const Engine& engine, const std::vector<QueueStatus>& queues) {
  const Inspector inspector{engine};
  MetricsText text{{{"store", engine.name()}}};
  add_queues(text, queues, engine.parts().clock().wall());
  add_workers(text, inspector.workers());
  add_totals(text, inspector.recovery_totals());
  add_last_recovery(text, inspector.reports(1, 0));
  add_run_level(text, engine.run_level());
  return text.str();
}

std::string halted_store_metrics(const std::string& address) {
  MetricsText text{{{"store", address}}};
  add_run_level(text, RunLevel::halted);
  return text.str();
}

}  // namespace holdfast
