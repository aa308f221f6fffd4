#include <algorithm>

#include <fmt/format.h>

#include "documents/http_health.hpp"
#include "documents/json.hpp"
#include "documents/task_json.hpp"
#include "recovery/clock.hpp"
#include "server/hidden.hpp"
#include "server/problem.hpp"
#include "server/service.hpp"
#include "server/task_filter.hpp"
#include "server/task_search.hpp"

namespace holdfast::server {

namespace {

/// The beginning of what is too long for a list, as a JSON string; empty if it is whole. What was
/// cut is no JSON any more, so it is taken away from where JSON is expected.
std::string take_preview(std::string& text, std::size_t bytes, bool& hidden) {
  if (text.size() >= bytes) return {};
  const auto shown = hide_secrets_in_beginning(text);
  hidden = hidden || shown.hidden;
  text.clear();
  return json_string(shown.json);
}

/// As callers may see it: without secrets, unless they asked for them.
std::string shown_task(TaskRecord task, const std::vector<Transition>* history, bool reveal) {
  bool hidden = false;
  const auto payload = take_preview(task.payload, task.payload_bytes, hidden);
  const auto result = take_preview(task.result, task.result_bytes, hidden);
  if (!reveal)
    for (auto* text : {&task.payload, &task.result}) {
      auto shown = hide_secrets(*text);
      hidden = hidden || shown.hidden;
      *text = std::move(shown.json);
    }
  auto document = history ? task_json(task, *history) : task_json(task);
  document.pop_back();
  auto more = JsonObject{}
                  .flag("hidden", hidden)
                  .number("payload_bytes", task.payload_bytes)
                  .json("payload_preview", payload)
                  .number("result_bytes", task.result_bytes)
                  .json("result_preview", result)
                  .str();
  more.front() = ',';
  return document + more;
}

TaskRecord find_task(const Inspector& inspector, const Request& request) {
  const auto id = task_id(request.place("id"));
  if (auto task = inspector.task(id)) return *std::move(task);
  throw not_found(fmt::format("there is no task {} in this store", id.text()));
}

/// Hidden fields are for operators, and for whoever reads the audit log to know.
void reveal(Service& service, const Request& request, const std::string& what) {
  if (request.caller.role < Role::operates)
    throw Problem{403, "forbidden", "hidden fields are for operators only"};
  const auto n = service.audit().asked({.at = system_clock().wall(),
                                        .who = actor(request),
                                        .from = request.peer,
                                        .what = what,
                                        .store = service.store(request).engine.name()});
  service.audit().ended(n, "200");
}

Response search(Service& service, const Request& request) {
  const auto& query = request.query;
  query.only({"store", "state", "queue", "kind", "tag", "priority", "since", "id", "error",
              "payload_field", "payload_value", "order", "limit", "cursor"});
  const auto [filter, contents] = selection_of(query);
  if (contents.looks_at_secret())
    reveal(service, request, "search " + request.path + " by " + contents.payload_field);
  const auto order = query.find("order").value_or("newest");
  if (order != "newest" && order != "oldest") throw invalid("order is newest or oldest");
  const auto page =
      find_tasks(service.inspector(request), filter, contents, Cursor::parse(query.text("cursor")),
                 static_cast<int>(query.number("limit", 50, 1, 500)), order == "newest");
  std::vector<std::string> documents;
  for (const auto& task : page.tasks) documents.push_back(shown_task(task, nullptr, false));
  return json_response(JsonObject{}
                           .json("tasks", json_list(documents))
                           .json("next_cursor", page.more ? json_string(page.next.text()) : "")
                           .flag("cut_off", page.cut_off)
                           .number("looked_at", page.looked_at)
                           .str());
}

Response show(Service& service, const Request& request) {
  request.query.only({"store", "reveal"});
  const auto inspector = service.inspector(request);
  const auto task = find_task(inspector, request);
  const bool revealed = request.query.flag("reveal");
  if (revealed) reveal(service, request, "reveal " + request.path);
  const auto history = inspector.history(task.id);
  return json_response(shown_task(task, &history, revealed));
}

Response logs(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto inspector = service.inspector(request);
  std::vector<std::string> lines;
  for (const auto& line : inspector.logs(find_task(inspector, request).id))
    lines.push_back(log_line_json(line));
  return json_response(JsonObject{}.json("lines", json_list(lines)).str());
}

Response explain(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto inspector = service.inspector(request);
  const auto task = find_task(inspector, request);
  return json_response(JsonObject{}
                           .text("id", task.id.text())
                           .text("state", to_string(task.state))
                           .text("explanation", explain_task(service.store(request).engine, task))
                           .str());
}

}  // namespace

void add_search_routes(Routes& routes, Service& service) {
  auto add = [&](const char* path, Response (*handler)(Service&, const Request&)) {
    routes.add({"GET", path, Access::viewer,
                [&service, handler](const Request& request) { return handler(service, request); }});
  };
  add("/v1/tasks", search);
  add("/v1/tasks/count", [](Service& all, const Request& request) {
    request.query.only({"store", "state", "queue", "kind", "tag", "priority", "since", "id"});
    const auto filter = selection_of(request.query).filter;
    const auto found = all.inspector(request).count_within(filter, longest_count);
    return json_response(
        JsonObject{}.number("count", found.tasks).flag("complete", found.complete).str());
  });
  add("/v1/tasks/{id}", show);
  add("/v1/tasks/{id}/logs", logs);
  add("/v1/tasks/{id}/explain", explain);
}

}  // namespace holdfast::server
