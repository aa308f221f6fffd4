#include "documents/schedule_json.hpp"

#include "documents/json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast {

std::string schedule_json(const Schedule& schedule) {
  const auto& task = schedule.task;
  const auto& options = task.options;
  return JsonObject{}
      .text("name", schedule.name)
      .text("cron", schedule.cron)
      .text("zone", schedule.zone)
      .text("missed", to_string(schedule.missed))
      .flag("paused", schedule.paused)
      .json("next", schedule.paused ? "" : time_json(schedule.next))
      .json("last_fired", time_json(schedule.last_fired))
      .text("kind", task.kind)
      .json("payload", json_line(task.payload))
      .text("queue", options.queue)
      .number("priority", options.priority)
      .number("max_attempts", options.max_attempts)
      .number("delay_ms", options.delay.count())
      .number("timeout_ms", options.timeout.count())
      .json("unique_key", options.unique_key.empty() ? "" : json_string(options.unique_key))
      .json("limit_key", options.limit_key.empty() ? "" : json_string(options.limit_key))
      .json("tags", json_array(options.tags))
      .str();
}

}  // namespace holdfast
