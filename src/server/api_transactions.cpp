#include <fmt/format.h>

#include "documents/json.hpp"
#include "documents/transaction_json.hpp"
#include "recovery/clock.hpp"
#include "server/fields.hpp"
#include "server/hidden.hpp"
#include "server/problem.hpp"
#include "server/service.hpp"
#include "server/task_filter.hpp"
#include "server/task_search.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::server {

namespace {

void hide(TransactionRecord& transaction) {
  transaction.data = hide_secrets(transaction.data).json;
  transaction.input = hide_secrets(transaction.input).json;
}

TransactionInspector inspector_of(Service& service, const Request& request) {
  return TransactionInspector{service.store(request).engine, actor(request)};
}

Problem no_such(const Request& request) {
  return not_found(fmt::format("there is no transaction '{}' in this store", request.place("id")));
}

Response list(Service& service, const Request& request) {
  const auto& query = request.query;
  query.only({"store", "machine", "state", "limit"});
  const TransactionFilter filter{.machine = query.text("machine"),
                                 .states = task_states(query.all("state"))};
  TaskPage page{.limit = static_cast<int>(query.number("limit", 50, 1, 500))};
  bool complete = true;
  const auto until = system_clock().steady() + longest_count;
  page.go_on = [&](TaskId) { return complete = system_clock().steady() < until; };
  std::vector<std::string> documents;
  // A store that cannot keep any has none.
  if (service.store(request).engine.parts().transaction_store())
    for (auto& each : inspector_of(service, request).list(filter, page)) {
      hide(each);
      documents.push_back(transaction_json(each));
    }
  return json_response(
      JsonObject{}.json("transactions", json_list(documents)).flag("complete", complete).str());
}

Response show(Service& service, const Request& request) {
  request.query.only({"store"});
  auto sight = look_at(inspector_of(service, request), request.place("id"));
  if (!sight) throw no_such(request);
  hide(sight->transaction);
  return json_response(transaction_json(*sight));
}

Response changed(bool yes) {
  return json_response(JsonObject{}.number("changed", yes ? 1 : 0).str());
}

Response cancel(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto fields = Fields::of_body(request.body);
  fields.only({"force"});
  auto inspector = inspector_of(service, request);
  if (!inspector.find(request.place("id"))) throw no_such(request);
  return changed(inspector.cancel(request.place("id"), fields.flag("force")));
}

Response retry(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto fields = Fields::of_body(request.body);
  fields.only({"state"});
  auto inspector = inspector_of(service, request);
  if (!inspector.find(request.place("id"))) throw no_such(request);
  return changed(inspector.retry(request.place("id"), fields.text("state").value_or("")));
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
  add("GET", "/v1/transactions", Access::viewer, list);
  add("GET", "/v1/transactions/{id}", Access::viewer, show);
  add("POST", "/v1/transactions/{id}/cancel", Access::operates, cancel);
  add("POST", "/v1/transactions/{id}/retry", Access::operates, retry);
}

}  // namespace holdfast::server
