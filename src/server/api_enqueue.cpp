#include <holdfast/tasks.hpp>
#include <holdfast/traces.hpp>

#include "documents/json.hpp"
#include "server/idempotency.hpp"
#include "server/limited_enqueue.hpp"
#include "server/limiting_token.hpp"
#include "server/new_task.hpp"
#include "server/problem.hpp"
#include "server/service.hpp"
#include "server/task_filter.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t most_tasks = 1'000;
constexpr std::int64_t ten_years_ms = 10LL * 365 * 24 * 3'600 * 1'000;

std::vector<TaskId> enqueue_all(const Engine& engine, std::vector<NewTask> tasks) {
  return Tasks{engine}.enqueue_all(std::move(tasks));
}

/// Whoever works on the tasks goes on with the trace of whoever enqueued them.
void add_trace(std::vector<NewTask>& tasks, std::string_view traceparent) {
  if (traceparent.empty()) return;
  const auto tags = trace_tags(traceparent);
  if (tags.empty())
    throw invalid(
        "traceparent is not one of W3C's Trace Context; it looks like "
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  for (auto& task : tasks)
    task.options.tags.insert(task.options.tags.end(), tags.begin(), tags.end());
}

Response enqueue(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto fields = Fields::of_body(request.body);
  std::vector<NewTask> tasks;
  if (fields.has("tasks")) {
    fields.only({"tasks"});
    for (const auto& each : fields.objects("tasks", most_tasks)) tasks.push_back(new_task(each));
  } else {
    tasks.push_back(new_task(fields));
  }
  if (tasks.empty()) throw invalid("tasks is empty; there is nothing to enqueue");
  const auto* token = limiting_token(request.caller);
  if (token) authorize(*token, tasks);
  if (request.caller.token) expect_no_token_tags(tasks);
  const auto& engine = service.store(request).engine;
  if (const std::string key{request.header("idempotency-key")}; !key.empty())
    name_by_key(tasks, Inspector{engine}, key, token);
  add_trace(tasks, request.header("traceparent"));
  if (request.caller.token) add_token_tag(*request.caller.token, tasks);
  std::vector<std::string> ids;
  for (const auto& id :
       token ? enqueue_limited(*token, std::move(tasks), engine, service.quotas(), enqueue_all)
             : enqueue_all(engine, std::move(tasks)))
    ids.push_back(id.text());
  return json_response(JsonObject{}.json("ids", json_array(ids)).str(), 201);
}

}  // namespace

NewTask new_task(const Fields& fields) {
  fields.only({"kind", "payload", "queue", "priority", "delay_ms", "at", "max_attempts",
               "timeout_ms", "unique_key", "limit_key", "tags", "after", "id"});
  NewTask task{fields.required_text("kind"), std::string{fields.raw("payload").value_or("{}")}};
  auto& options = task.options = task_place(fields);
  options.max_attempts =
      static_cast<int>(fields.number("max_attempts", 1, 1'000).value_or(options.max_attempts));
  options.timeout =
      Millis{fields.number("timeout_ms", 1, ten_years_ms).value_or(options.timeout.count())};
  options.after = task_ids(fields.texts("after"));
  return task;
}

TaskOptions task_place(const Fields& fields) {
  TaskOptions options;
  options.queue = fields.text("queue").value_or(options.queue);
  options.priority = static_cast<int>(
      fields.number("priority", highest_priority, lowest_priority).value_or(options.priority));
  options.delay = Millis{fields.number("delay_ms", 0, ten_years_ms).value_or(0)};
  if (const auto at = fields.text("at")) options.at = time_of(*at, "at");
  options.unique_key = fields.text("unique_key").value_or("");
  options.limit_key = fields.text("limit_key").value_or("");
  options.tags = fields.texts("tags");
  if (const auto id = fields.text("id")) options.id = task_id(*id);
  return options;
}

void add_enqueue_routes(Routes& routes, Service& service) {
  routes.add({.method = "POST",
              .pattern = "/v1/tasks",
              .access = Access::enqueue,
              .handler = [&](const Request& request) { return enqueue(service, request); },
              .largest_body = large_body});
}

}  // namespace holdfast::server
