#include "documents/queue_json.hpp"

#include <holdfast/postgres.hpp>

#include "documents/json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast {

std::string queue_json(const QueueStatus& queue) {
  JsonObject counts;
  for (int i = 0; i < task_state_count; ++i) {
    const auto state = static_cast<TaskState>(i);
    counts.number(to_string(state), queue.counts[i]);
  }
  return JsonObject{}
      .text("queue", queue.queue)
      .flag("paused", queue.paused)
      .json("counts", counts.str())
      .json("oldest_pending",
            queue.oldest_pending ? json_string(iso8601(*queue.oldest_pending)) : "")
      .str();
}

namespace {

std::string upkeep_json(const postgres::Upkeep& upkeep) {
  std::string blocker;
  if (upkeep.blocker)
    blocker = JsonObject{}
                  .number("pid", upkeep.blocker->pid)
                  .text("who", upkeep.blocker->who)
                  .number("age_ms", upkeep.blocker->age.count())
                  .str();
  return JsonObject{}
      .number("dead_rows", upkeep.dead_rows)
      .number("live_rows", upkeep.live_rows)
      .json("blocker", blocker)
      .flag("sees_others", upkeep.sees_others)
      .str();
}

}  // namespace

std::string queues_json(const Engine& engine, const std::vector<QueueStatus>& queues) {
  std::vector<std::string> documents;
  for (const QueueStatus& queue : queues) documents.push_back(queue_json(queue));
  return queues_json(engine, json_list(documents), {});
}

std::string queues_json(const Engine& engine, const std::string& list,
                        const std::string& next_cursor) {
  const Inspector inspector{engine};
  const auto upkeep = postgres::upkeep(engine);
  return JsonObject{}
      .text("store", engine.name())
      .text("durability", inspector.durability())
      .text("durability_warning", inspector.durability_warning())
      .number("stale_writes_refused", inspector.stale_writes_refused())
      .json("queues", list)
      .json("next_cursor", next_cursor)
      .json("upkeep", upkeep ? upkeep_json(*upkeep) : "")
      .str();
}

}  // namespace holdfast
