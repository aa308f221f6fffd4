#include <holdfast/http/client.hpp>

#include <holdfast/http/processor.hpp>
#include <holdfast/inspector.hpp>

#include "http/forget.hpp"
#include "http/headers.hpp"
#include "http/plain_payload.hpp"
#include "http/url.hpp"
#include "tasks/reserved.hpp"

namespace holdfast::http {

namespace {

constexpr Millis for_the_rest = std::chrono::minutes{1};

/// The attempt of a task must be longer than all of its hops together, which end by themselves.
/// Before each it may wait for a place at the host.
int most_waits(const Request& request) {
  return 2 * (1 + request.max_redirects.value_or(ProcessorOptions{}.max_redirects));
}

/// Of the call, and of the client what the call does not replace. Those of the client are meant for
/// its base URL; at another origin they would tell secrets.
void add_headers(Request& request, const ClientOptions& options, const Call& call) {
  request.headers = merge({}, call.headers);
  request.secret_headers = merge({}, call.secret_headers);
  const bool is_home =
      options.base_url.empty() || origin_of(request.url) == origin_of(options.base_url);
  const auto own = std::pair{request.headers, request.secret_headers};
  const auto is_free = [&](const std::string& name) {
    return !own.first.contains(name) && !own.second.contains(name);
  };
  for (const auto& [name, value] : merge({}, options.headers))
    if (is_free(name) && (is_home || is_harmless_header(name))) request.headers[name] = value;
  for (const auto& [name, secret] : merge({}, options.secret_headers))
    if (is_free(name) && is_home) request.secret_headers[name] = secret;
}

}  // namespace

Client::Client(Engine engine, ClientOptions options)
    : tasks_{std::move(engine)}, options_{std::move(options)} {
  validate(options_.payloads);
  if (!options_.base_url.empty()) origin_of(options_.base_url);
}

Request Client::build(Method method, std::string_view url, const Call& call) const {
  if (!call.callback_queue.empty() && call.callback.empty())
    throw InvalidRequest{"there is a queue for the callback, and no callback"};
  Request request;
  request.method = method;
  request.url = with_parameters(join_url(options_.base_url, url), call.params);
  add_headers(request, options_, call);
  request.body = call.body;
  request.timeout = call.timeout.value_or(options_.timeout);
  request.host_patience = call.host_patience;
  request.max_redirects = call.max_redirects;
  request.raise_error_responses = call.raise_error_responses;
  request.on_ambiguous = call.on_ambiguous;
  request.sign_with = call.sign_with;
  request.callback = call.callback;
  request.callback_queue = call.callback_queue;
  request.context = call.context;
  validate(request);
  return request;
}

NewTask Client::task_for(const Request& request, std::optional<TaskId> id) const {
  validate(request);
  check_not_reserved("queue name", options_.task.queue);
  NewTask task{request_kind, {}, options_.task};
  task.options.id = id ? *id : TaskId::make();
  task.options.max_attempts = options_.persistence.attempts;
  task.options.backoff = options_.persistence.backoff;
  task.options.timeout =
      request.timeout.value_or(options_.timeout) * most_waits(request) + for_the_rest;
  auto key = options_.payloads.blobs ? blob_key(tasks_.engine(), *task.options.id) : "";
  const SealedFor owner{*task.options.id, task.kind, task.options.queue};
  task.payload = seal(to_json(request), owner, key, options_.payloads);
  return task;
}

TaskId Client::enqueue(const Request& request, std::optional<TaskId> id) {
  return enqueue_own(tasks_.engine(), {task_for(request, id)}).front();
}

std::vector<TaskId> Client::enqueue_all(const std::vector<Request>& requests) {
  std::vector<NewTask> tasks;
  tasks.reserve(requests.size());
  for (const auto& request : requests) tasks.push_back(task_for(request, {}));
  return enqueue_own(tasks_.engine(), std::move(tasks));
}

std::optional<Response> Client::answer(TaskId id) const {
  const auto task = Inspector{tasks_.engine()}.task(id);
  if (!task || task->kind != request_kind || task->result.empty()) return {};
  const auto json = parse_json(
      plain_result(task->result, {id, task->kind, task->queue}, options_.payloads, "this client"));
  const auto* response = json.is_object() ? json.get_object().if_contains("response") : nullptr;
  if (!response) return {};
  return response_from_json(*response);
}

TaskId Client::get(std::string_view url, Call call) {
  return enqueue(build(Method::get, url, call), call.id);
}
TaskId Client::post(std::string_view url, Call call) {
  return enqueue(build(Method::post, url, call), call.id);
}
TaskId Client::put(std::string_view url, Call call) {
  return enqueue(build(Method::put, url, call), call.id);
}
TaskId Client::patch(std::string_view url, Call call) {
  return enqueue(build(Method::patch, url, call), call.id);
}
TaskId Client::delete_(std::string_view url, Call call) {
  return enqueue(build(Method::delete_, url, call), call.id);
}
TaskId Client::head(std::string_view url, Call call) {
  return enqueue(build(Method::head, url, call), call.id);
}

}  // namespace holdfast::http
