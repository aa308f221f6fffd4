#include <sodium.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/tasks.hpp>
#include <holdfast/traces.hpp>

#include "documents/json.hpp"
#include "recovery/clock.hpp"
#include "server/limited_enqueue.hpp"
#include "server/limiting_token.hpp"
#include "server/new_task.hpp"
#include "server/problem.hpp"
#include "server/service.hpp"
#include "server/task_filter.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t most_tasks = 1'000;
constexpr std::size_t longest_key = 200;
constexpr std::int64_t ten_years_ms = 10LL * 365 * 24 * 3'600 * 1'000;
constexpr int hours_remembered = 24;

template <std::size_t bytes>
std::array<std::uint8_t, bytes> hash(const std::string& text) {
  std::array<std::uint8_t, bytes> made{};
  crypto_generichash(made.data(), made.size(), reinterpret_cast<const unsigned char*>(text.data()),
                     text.size(), nullptr, 0);
  return made;
}

/// The id of the task that a request with this key makes in this hour. The same key gives the same
/// ids, and a store takes an id once, so a repetition enqueues nothing: without a table of keys
/// that would have to be kept and be written in the same step.
TaskId id_of_key(const std::string& key, std::size_t index, std::int64_t hour) {
  TaskId id{hash<16>(fmt::format("{}\n{}\n{}", hour, index, key))};
  const auto time = static_cast<std::uint64_t>(hour) * 3'600'000;
  for (std::size_t i = 0; i < 6; ++i) id.bytes[i] = static_cast<std::uint8_t>(time >> (40 - 8 * i));
  return id;
}

/// A tag of the first task by which another request under the same key is known. A trace is no
/// part of it: each try may have its own.
constexpr std::string_view request_tag = "request-";

std::string tag_of(const std::vector<NewTask>& tasks) {
  std::string all;
  auto add = [&](const std::string& text) { all += fmt::format("{}:{}", text.size(), text); };
  for (const auto& [kind, payload, options] : tasks) {
    for (const auto* text :
         {&kind, &payload, &options.queue, &options.unique_key, &options.limit_key})
      add(*text);
    const auto at = options.at ? options.at->time_since_epoch().count() : -1;
    add(fmt::format("{} {} {} {} {}", options.priority, options.delay.count(), at,
                    options.max_attempts, options.timeout.count()));
    add(fmt::format("{} {}", options.tags.size(), options.after.size()));
    for (const auto& tag : options.tags) add(tag);
    for (const auto& id : options.after) add(id.text());
  }
  return fmt::format("{}{:02x}", request_tag, fmt::join(hash<8>(all), ""));
}

void expect_same_request(const TaskRecord& first, const std::string& tag) {
  const auto& known = first.tags;
  const bool has_one =
      std::ranges::any_of(known, [](const auto& each) { return each.starts_with(request_tag); });
  if (!has_one || std::ranges::count(known, tag) > 0) return;
  throw invalid(
      fmt::format("another request had this Idempotency-Key, with another payload, number of tasks "
                  "or option, and enqueued task {}; nothing was enqueued now",
                  first.id.text()));
}

/// The hour in which this key was used first: now, or where its first task was found.
std::int64_t hour_of_key(const Inspector& inspector, const std::string& key,
                         const std::string& tag) {
  const auto now = system_clock().wall().time_since_epoch() / std::chrono::hours{1};
  TaskFilter earlier;
  for (int ago = 0; ago <= hours_remembered; ++ago)
    earlier.ids.push_back(id_of_key(key, 0, now - ago));
  const auto found = inspector.tasks(earlier, {.limit = 1});
  if (found.empty()) return now;
  expect_same_request(found.front(), tag);
  return now - (std::ranges::find(earlier.ids, found.front().id) - earlier.ids.begin());
}

void name_by_key(std::vector<NewTask>& tasks, const Inspector& inspector, std::string key,
                 const ProgramToken* token) {
  if (key.size() > longest_key)
    throw invalid(fmt::format("Idempotency-Key has {} bytes; at most {} are allowed", key.size(),
                              longest_key));
  if (token) key = key_for(key, tasks.front());
  const auto tag = tag_of(tasks);
  const auto hour = hour_of_key(inspector, key, tag);
  tasks.front().options.tags.push_back(tag);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].options.id) throw invalid("name tasks by id or by Idempotency-Key, not both");
    tasks[i].options.id = id_of_key(key, i, hour);
  }
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
  for (const auto& id : token ? enqueue_limited(*token, std::move(tasks), engine)
                              : Tasks{engine}.enqueue_all(std::move(tasks)))
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
