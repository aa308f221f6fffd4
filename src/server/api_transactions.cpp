#include <algorithm>

#include <fmt/format.h>

#include "documents/json.hpp"
#include "documents/redact.hpp"
#include "documents/transaction_json.hpp"
#include "recovery/clock.hpp"
#include "server/fields.hpp"
#include "server/page.hpp"
#include "server/problem.hpp"
#include "server/service.hpp"
#include "server/task_filter.hpp"
#include "server/task_search.hpp"
#include "tasks/engine_parts.hpp"
#include "transactions/held_ledger.hpp"

namespace holdfast::server {

namespace {

constexpr int most_moves = 500;
constexpr int lines_at_once = 50;
constexpr int read_at_once = 8;  ///< each comes whole from the store

/// As viewers may see it. `whole`: also what is too long for a list.
void hide(TransactionRecord& transaction, bool whole) {
  for (auto* json : {&transaction.data, &transaction.input}) {
    const auto bytes = json->size();
    const bool too_long = !whole && bytes > longest_value;
    auto shown = redact_json(std::string_view{*json}.substr(0, too_long ? longest_value : bytes));
    // Cut off, it is JSON no more: then it is a text with its beginning.
    *json = too_long ? JsonObject{}
                           .flag("truncated", true)
                           .number("bytes", bytes)
                           .text("preview", shown.text)
                           .str()
                     : std::move(shown.text);
  }
  for (auto* text : {&transaction.reason, &transaction.error, &transaction.task.error})
    *text = redact_text(*text).text;
}

TransactionInspector inspector_of(Service& service, const Request& request) {
  return TransactionInspector{service.store(request).engine, actor(request)};
}

Problem no_such(const Request& request) {
  return not_found(fmt::format("there is no transaction '{}' in this store", request.place("id")));
}

Response list_transactions(Service& service, const Request& request) {
  const auto& query = request.query;
  query.only({"store", "machine", "state", "limit", "cursor"});
  const TransactionFilter filter{.machine = query.text("machine"),
                                 .states = task_states(query.all("state"))};
  auto cursor = Cursor::parse(query.text("cursor"));
  Page page{static_cast<std::size_t>(query.number("limit", 50, 1, 500))};
  bool complete = true;
  // A store that cannot keep any has none.
  bool more = service.store(request).engine.parts().transaction_store() != nullptr;
  const auto until = system_clock().steady() + longest_count;
  while (more && complete && page.room() > 0) {
    TaskPage wanted{.limit = std::min(page.room() + 1, read_at_once), .offset = cursor.offset};
    if (!cursor.last.is_nil()) wanted.after = cursor.last;
    wanted.go_on = [&](TaskId) { return complete = system_clock().steady() < until; };
    auto found = inspector_of(service, request).list(filter, wanted);
    more = std::ssize(found) == wanted.limit;
    for (auto& each : found) {
      hide(each, false);
      if (!page.add(transaction_json(each))) {
        more = true;
        break;
      }
      ++cursor.offset;
      cursor.last = each.task.id;
    }
  }
  std::optional<std::string> next;
  if (more && !page.empty()) next = cursor.text();
  return json_response(JsonObject{}
                           .json("transactions", page.list())
                           .json("next_cursor", cursor_json(next))
                           .flag("complete", complete)
                           .str());
}

Response show_transaction(Service& service, const Request& request) {
  request.query.only({"store"});
  auto sight = look_at(inspector_of(service, request), service.inspector(request),
                       request.place("id"), most_moves);
  if (!sight) throw no_such(request);
  hide(sight->transaction, true);
  for (auto& move : sight->moves) move.reason = redact_text(move.reason).text;
  for (auto& step : sight->transitions) step.reason = redact_text(step.reason).text;
  for (auto& entry : sight->ledger) entry.value = redact_json(entry.value).text;
  return json_response(transaction_json(*sight, most_page_bytes));
}

/// What `show` has no room for.
Response ledger(Service& service, const Request& request) {
  request.query.only({"store", "limit", "cursor"});
  const auto inspector = inspector_of(service, request);
  if (!inspector.find(request.place("id"))) throw no_such(request);
  auto& store = service.store(request).engine.parts().transactions();
  const auto task = transaction_task(request.place("id"));
  auto offset = offset_of(request.query.text("cursor"));
  Page page{static_cast<std::size_t>(request.query.number("limit", 500, 1, 1'000))};
  bool more = true;
  while (more && page.room() > 0) {
    const int wanted = std::min(page.room() + 1, lines_at_once);
    const auto lines = read_ledger(store, task, {offset, wanted});
    more = std::ssize(lines) == wanted;
    for (auto line : lines) {
      line.value = redact_json(line.value).text;
      if (is_of_handlers(line) && !page.add(ledger_json(line))) {
        more = true;
        break;
      }
      ++offset;
    }
  }
  std::optional<std::string> next;
  if (more) next = std::to_string(offset);
  return json_response(
      JsonObject{}.json("ledger", page.list()).json("next_cursor", cursor_json(next)).str());
}

Response changed(bool yes) {
  return json_response(JsonObject{}.number("changed", yes ? 1 : 0).str());
}

Response cancel_transaction(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto fields = Fields::of_body(request.body);
  fields.only({"force"});
  auto inspector = inspector_of(service, request);
  if (!inspector.find(request.place("id"))) throw no_such(request);
  return changed(inspector.cancel(request.place("id"), fields.flag("force")));
}

Response retry_transaction(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto fields = Fields::of_body(request.body);
  fields.only({"state"});
  auto inspector = inspector_of(service, request);
  if (!inspector.find(request.place("id"))) throw no_such(request);
  return changed(inspector.retry(request.place("id"), fields.text("state").value_or("")));
}

Response signal(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto fields = Fields::of_body(request.body);
  fields.only({"name", "value"});
  const auto name = fields.required_text("name");
  if (!inspector_of(service, request).find(request.place("id"))) throw no_such(request);
  auto& store = service.store(request);
  try {
    signal_transaction(store.engine, *store.messages.broker(), request.place("id"), name,
                       std::string{fields.raw("value").value_or("null")});
  } catch (const BrokerError& error) {
    throw Problem{503, "broker_away", error.what()};
  }
  return changed(true);
}

}  // namespace

void add_transaction_routes(Routes& routes, Service& service) {
  auto add = [&](const char* method, const char* path, Access access,
                 Response (*handler)(Service&, const Request&)) {
    routes.add({.method = method,
                .pattern = path,
                .access = access,
                .handler = [&service,
                            handler](const Request& request) { return handler(service, request); },
                .audited = access != Access::viewer});
  };
  add("GET", "/v1/transactions", Access::viewer, list_transactions);
  add("GET", "/v1/transactions/{id}", Access::viewer, show_transaction);
  add("GET", "/v1/transactions/{id}/ledger", Access::viewer, ledger);
  add("POST", "/v1/transactions/{id}/cancel", Access::operates, cancel_transaction);
  add("POST", "/v1/transactions/{id}/retry", Access::operates, retry_transaction);
  add("POST", "/v1/transactions/{id}/signal", Access::operates, signal);
}

}  // namespace holdfast::server
