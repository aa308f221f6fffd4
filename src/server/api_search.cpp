#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "documents/http_health.hpp"
#include "documents/json.hpp"
#include "documents/redact.hpp"
#include "documents/task_json.hpp"
#include "recovery/clock.hpp"
#include "server/page.hpp"
#include "server/problem.hpp"
#include "server/service.hpp"
#include "server/task_filter.hpp"
#include "server/task_search.hpp"
#include "tasks/engine_parts.hpp"
#include "tasks/history.hpp"

namespace holdfast::server {

namespace {

constexpr int log_lines_at_once = 200;
constexpr int steps_at_once = 50;

/// Replaces what is shown of a text; returns whether something in it is hidden.
bool hide(std::string& text) {
  auto shown = redact_text(text);
  text = std::move(shown.text);
  return shown.hidden;
}

/// As callers may see it: without credentials, unless they asked for them. A payload or result of
/// which only the beginning is here is taken away from where JSON is expected.
std::string shown_task(TaskRecord task, std::vector<Transition>* history, bool reveal) {
  bool hidden = false;
  std::string previews[2];
  const auto show = [&](std::string& text, std::size_t bytes, std::string& preview) {
    if (reveal && text.size() >= bytes) return;
    auto shown = shown_value(text, bytes);
    hidden = hidden || shown.hidden;
    text = std::move(shown.json);
    preview = std::move(shown.preview);
  };
  show(task.payload, task.payload_bytes, previews[0]);
  show(task.result, task.result_bytes, previews[1]);
  if (!reveal) {
    for (auto* text : {&task.error, &task.cause, &task.progress_text}) hidden |= hide(*text);
    if (history)
      for (auto& step : *history) hidden |= hide(step.reason);
  }
  auto document = history ? task_json(task, *history) : task_json(task);
  document.pop_back();
  auto more = JsonObject{}
                  .flag("hidden", hidden)
                  .number("payload_bytes", task.payload_bytes)
                  .json("payload_preview", previews[0])
                  .number("result_bytes", task.result_bytes)
                  .json("result_preview", previews[1])
                  .str();
  more.front() = ',';
  return document + more;
}

/// The last steps of a task that an answer has room for.
struct NewestSteps {
  std::vector<Transition> steps{};
  std::int64_t left_out = 0;  ///< recorded steps before these
};
NewestSteps newest_steps(TaskAdmin& admin, const TaskRecord& task) {
  auto begin = admin.recorded_steps(task.id);
  std::vector<RecordedTransition> rows;
  std::size_t bytes = 0;
  while (begin > 0 && bytes < most_page_bytes) {
    const auto count = std::min<std::int64_t>(begin, steps_at_once);
    begin -= count;
    auto more = admin.recorded_history(task.id, {begin, count});
    for (const auto& row : more)
      bytes += 600 + row.transition.reason.size() + row.transition.actor.size();
    more.insert(more.end(), std::make_move_iterator(rows.begin()),
                std::make_move_iterator(rows.end()));
    rows = std::move(more);
  }
  std::optional<RecordedTransition> before;
  if (begin > 0) before = admin.recorded_history(task.id, {begin - 1, 1}).at(0);
  return {part_of_history(task, std::move(before), std::move(rows), true).steps, begin};
}

/// Where a page of a history begins: behind so many recorded steps, and so many of what belongs to
/// the next one.
struct PlaceInHistory {
  std::int64_t recorded = 0;
  std::size_t shown = 0;

  static PlaceInHistory parse(const std::string& cursor) {
    const auto dash = cursor.find('-');
    PlaceInHistory place{.recorded = offset_of(cursor.substr(0, dash))};
    if (dash != cursor.npos)
      place.shown = static_cast<std::size_t>(offset_of(cursor.substr(dash + 1)));
    return place;
  }
  std::string text() const { return fmt::format("{}-{}", recorded, shown); }
};

/// Adds steps from `place` on until the page is full or there are no more; returns where the next
/// page begins.
std::optional<PlaceInHistory> add_steps(TaskAdmin& admin, const TaskRecord& task,
                                        PlaceInHistory place, Page& page) {
  std::optional<RecordedTransition> before;
  if (place.recorded > 0) {
    auto found = admin.recorded_history(task.id, {place.recorded - 1, 1});
    if (found.empty()) return {};
    before = std::move(found.front());
  }
  for (;;) {
    auto rows = admin.recorded_history(task.id, {place.recorded, steps_at_once});
    const bool last = std::ssize(rows) < steps_at_once;
    const auto next = rows.empty() ? before : std::optional{rows.back()};
    const auto part = part_of_history(task, std::move(before), std::move(rows), last);
    auto at = place.shown;
    while (at < part.steps.size() && page.add(transition_json(part.steps[at]))) ++at;
    if (at < part.steps.size()) {
      const auto owner = std::ranges::upper_bound(part.ends, at);
      const auto whole = owner - part.ends.begin();
      const auto first = whole == 0 ? 0 : part.ends[static_cast<std::size_t>(whole - 1)];
      return PlaceInHistory{place.recorded + whole, at - first};
    }
    if (last) return {};
    place = {place.recorded + steps_at_once, 0};
    before = next;
  }
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
  auto newest = newest_steps(service.store(request).engine.parts().admin(), task);
  auto document = shown_task(task, &newest.steps, revealed);
  document.pop_back();
  auto response =
      json_response(fmt::format("{},\"history_left_out\":{}}}", document, newest.left_out));
  response.revealed = revealed;
  return response;
}

Response history(Service& service, const Request& request) {
  request.query.only({"store", "limit", "cursor"});
  const auto task = find_task(service.inspector(request), request);
  Page page{static_cast<std::size_t>(request.query.number("limit", 500, 1, 1'000))};
  const auto place = add_steps(service.store(request).engine.parts().admin(), task,
                               PlaceInHistory::parse(request.query.text("cursor")), page);
  std::optional<std::string> next;
  if (place) next = place->text();
  return json_response(
      JsonObject{}.json("history", page.list()).json("next_cursor", cursor_json(next)).str());
}

Response logs(Service& service, const Request& request) {
  request.query.only({"store", "limit", "cursor"});
  const auto inspector = service.inspector(request);
  const auto id = find_task(inspector, request).id;
  auto& admin = service.store(request).engine.parts().admin();
  auto offset = offset_of(request.query.text("cursor"));
  Page page{static_cast<std::size_t>(request.query.number("limit", 1'000, 1, 1'000))};
  bool more = true;
  while (more && page.room() > 0) {
    const int wanted = std::min(page.room() + 1, log_lines_at_once);
    const auto lines = admin.logs(id, offset, wanted);
    more = std::ssize(lines) == wanted;
    for (auto line : lines) {
      hide(line.text);
      if (!page.add(log_line_json(line))) {
        more = true;
        break;
      }
      ++offset;
    }
  }
  std::optional<std::string> next;
  if (more) next = std::to_string(offset);
  return json_response(
      JsonObject{}.json("lines", page.list()).json("next_cursor", cursor_json(next)).str());
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
  add("/v1/tasks/{id}/history", history);
  add("/v1/tasks/{id}/logs", logs);
  add("/v1/tasks/{id}/explain", explain);
}

}  // namespace holdfast::server
