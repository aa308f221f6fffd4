#include <charconv>

#include <fmt/format.h>

#include <holdfast/batches.hpp>

#include "documents/batch_json.hpp"
#include "documents/json.hpp"
#include "server/fields.hpp"
#include "server/hidden.hpp"
#include "server/problem.hpp"
#include "server/service.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::server {

namespace {

Batches batches_of(Service& service, const Request& request) {
  const auto& engine = service.store(request).engine;
  if (engine.parts().batch_store()) return Batches{engine};
  throw Problem{400, "unsupported",
                "this kind of store keeps no batches; use SQLite or PostgreSQL for them"};
}

BatchId batch_id(const Request& request) {
  if (const auto id = BatchId::parse(request.place("id"))) return *id;
  throw invalid(fmt::format("'{}' is not the id of a batch", request.place("id")));
}

BatchRecord find_batch(const Batches& batches, BatchId id) {
  if (auto batch = batches.status(id)) return *std::move(batch);
  throw not_found(fmt::format("there is no batch {}", id.text()));
}

std::vector<BatchStatus> statuses(const Query& query) {
  std::vector<BatchStatus> found;
  for (const auto& text : query.all("status")) {
    const auto status = parse_batch_status(text);
    if (!status)
      throw invalid(
          fmt::format("'{}' is no status: queued, inprog, success, failed, aborted, wait", text));
    found.push_back(*status);
  }
  return found;
}

Response list(Service& service, const Request& request) {
  const auto& query = request.query;
  query.only({"store", "app", "op", "status", "limit"});
  BatchFilter filter{.app = query.text("app"),
                     .op = query.text("op"),
                     .statuses = statuses(query),
                     .limit = static_cast<int>(query.number("limit", 50, 1, 500))};
  std::vector<std::string> documents;
  for (auto& batch : batches_of(service, request).list(filter)) {
    batch.context = hide_secrets(batch.context).json;
    documents.push_back(batch_json(batch));
  }
  return json_response(JsonObject{}.json("batches", json_list(documents)).str());
}

Response show(Service& service, const Request& request) {
  request.query.only({"store"});
  auto batch = find_batch(batches_of(service, request), batch_id(request));
  batch.context = hide_secrets(batch.context).json;
  return json_response(batch_json(batch));
}

/// After which row the next page begins: its line and its number.
void go_on_after(RowFilter& filter, const std::string& cursor) {
  if (cursor.empty()) return;
  const auto dash = std::min(cursor.find('-'), cursor.size());
  const char* middle = cursor.data() + dash;
  const char* end = cursor.data() + cursor.size();
  const auto line = std::from_chars(cursor.data(), middle, filter.after_line);
  const auto row = std::from_chars(std::min(middle + 1, end), end, filter.after_row);
  if (line.ec != std::errc{} || line.ptr != middle || row.ec != std::errc{} || row.ptr != end)
    throw invalid("the cursor is not one of ours; leave it out to begin again");
}

Response rows(Service& service, const Request& request) {
  const auto& query = request.query;
  query.only({"store", "status", "limit", "cursor"});
  const auto batches = batches_of(service, request);
  RowFilter filter{.batch = batch_id(request),
                   .statuses = statuses(query),
                   .limit = static_cast<int>(query.number("limit", 50, 1, 500))};
  find_batch(batches, filter.batch);
  go_on_after(filter, query.text("cursor"));
  const auto found = batches.rows(filter);
  std::vector<std::string> documents;
  for (auto row : found) {
    for (auto* text : {&row.input, &row.result, &row.messages, &row.output})
      *text = hide_secrets(*text).json;
    documents.push_back(row_json(row));
  }
  std::string next;
  if (std::ssize(found) == filter.limit)
    next = json_string(fmt::format("{}-{}", found.back().line, found.back().id));
  return json_response(
      JsonObject{}.json("rows", json_list(documents)).json("next_cursor", next).str());
}

Response change(Service& service, const Request& request, bool (Batches::*act)(BatchId),
                const char* why_not) {
  request.query.only({"store"});
  Fields::of_body(request.body).only({});
  auto batches = batches_of(service, request);
  const auto batch = find_batch(batches, batch_id(request));
  if ((batches.*act)(batch.id)) return no_content();
  throw Problem{
      409, "wrong_state",
      fmt::format("batch {} is {}; {}", batch.id.text(), to_string(batch.status), why_not)};
}

}  // namespace

void add_batch_routes(Routes& routes, Service& service) {
  auto add = [&](const char* method, const char* path, Access access,
                 std::function<Response(const Request&)> handler) {
    routes.add({.method = method,
                .pattern = path,
                .access = access,
                .handler = std::move(handler),
                .audited = access != Access::viewer});
  };
  add("GET", "/v1/batches", Access::viewer,
      [&](const Request& request) { return list(service, request); });
  add("GET", "/v1/batches/{id}", Access::viewer,
      [&](const Request& request) { return show(service, request); });
  add("GET", "/v1/batches/{id}/rows", Access::viewer,
      [&](const Request& request) { return rows(service, request); });
  add("POST", "/v1/batches/{id}/abort", Access::operates, [&](const Request& request) {
    return change(service, request, &Batches::abort, "what has ended cannot be called off");
  });
  add("POST", "/v1/batches/{id}/release", Access::operates, [&](const Request& request) {
    return change(service, request, &Batches::release, "only one that waits can be released");
  });
}

}  // namespace holdfast::server
