#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include <holdfast/batches.hpp>

#include "documents/batch_json.hpp"
#include "documents/json.hpp"
#include "server/fields.hpp"
#include "server/page.hpp"
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

/// With the extra members of values that are too long for a list.
class Shortened {
 public:
  /// Shows a value; where only its beginning is here, that as a text beside it.
  void show(std::string_view name, std::string& json, std::size_t whole_bytes) {
    auto shown = shown_value(json, whole_bytes);
    json = std::move(shown.json);
    if (shown.preview.empty()) return;
    more_.number(fmt::format("{}_bytes", name), whole_bytes);
    more_.json(fmt::format("{}_preview", name), shown.preview);
    truncated_ = true;
  }
  std::string added_to(std::string document) const {
    auto more = JsonObject{more_}.flag("truncated", truncated_).str();
    document.back() = ',';
    return document + more.substr(1);
  }

 private:
  JsonObject more_{};
  bool truncated_ = false;
};

std::string shown_batch(BatchRecord batch) {
  Shortened more;
  more.show("context", batch.context, batch.context_bytes);
  return more.added_to(batch_json(batch));
}

std::string shown_row(RowRecord row) {
  Shortened more;
  more.show("input", row.input, row.input_bytes);
  more.show("result", row.result, row.result_bytes);
  more.show("messages", row.messages, row.messages_bytes);
  more.show("output", row.output, row.output_bytes);
  return more.added_to(row_json(row));
}

Response list_batches(Service& service, const Request& request) {
  const auto& query = request.query;
  query.only({"store", "app", "op", "status", "limit", "cursor"});
  BatchFilter filter{.app = query.text("app"),
                     .op = query.text("op"),
                     .statuses = statuses(query),
                     .longest_text = longest_value};
  const auto batches = batches_of(service, request);
  if (const auto cursor = query.text("cursor"); !cursor.empty()) {
    filter.after = BatchId::parse(cursor);
    if (!filter.after || !batches.status(*filter.after))
      throw invalid("the cursor is not one of ours; leave it out to begin again");
  }
  Page page{static_cast<std::size_t>(query.number("limit", 50, 1, 500))};
  bool more = true;
  while (more && page.room() > 0) {
    filter.limit = std::min(page.room() + 1, entries_at_once);
    const auto found = batches.list(filter);
    more = std::ssize(found) == filter.limit;
    for (const auto& batch : found) {
      if (!page.add(shown_batch(batch))) {
        more = true;
        break;
      }
      filter.after = batch.id;
    }
  }
  std::optional<std::string> next;
  if (more && filter.after) next = filter.after->text();
  return json_response(
      JsonObject{}.json("batches", page.list()).json("next_cursor", cursor_json(next)).str());
}

Response show_batch(Service& service, const Request& request) {
  request.query.only({"store"});
  return json_response(shown_batch(find_batch(batches_of(service, request), batch_id(request))));
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
  RowFilter filter{
      .batch = batch_id(request), .statuses = statuses(query), .longest_text = longest_value};
  find_batch(batches, filter.batch);
  go_on_after(filter, query.text("cursor"));
  Page page{static_cast<std::size_t>(query.number("limit", 50, 1, 500))};
  bool more = true;
  while (more && page.room() > 0) {
    filter.limit = std::min(page.room() + 1, entries_at_once);
    const auto found = batches.rows(filter);
    more = std::ssize(found) == filter.limit;
    for (const auto& row : found) {
      if (!page.add(shown_row(row))) {
        more = true;
        break;
      }
      filter.after_line = row.line;
      filter.after_row = row.id;
    }
  }
  std::optional<std::string> next;
  if (more) next = fmt::format("{}-{}", filter.after_line, filter.after_row);
  return json_response(
      JsonObject{}.json("rows", page.list()).json("next_cursor", cursor_json(next)).str());
}

/// One row, whole.
Response row(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto batches = batches_of(service, request);
  RowFilter filter{.batch = batch_id(request), .after_row = INT64_MAX, .limit = 1};
  find_batch(batches, filter.batch);
  const auto& text = request.place("line");
  int line = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), line);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || line < 0)
    throw invalid(fmt::format("'{}' is not the number of a line", text));
  filter.after_line = line - 1;
  const auto found = batches.rows(filter);
  if (found.empty() || found.front().line != line)
    throw not_found(fmt::format("batch {} has no line {}", filter.batch.text(), line));
  return json_response(shown_row(found.front()));
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
      [&](const Request& request) { return list_batches(service, request); });
  add("GET", "/v1/batches/{id}", Access::viewer,
      [&](const Request& request) { return show_batch(service, request); });
  add("GET", "/v1/batches/{id}/rows", Access::viewer,
      [&](const Request& request) { return rows(service, request); });
  add("GET", "/v1/batches/{id}/rows/{line}", Access::viewer,
      [&](const Request& request) { return row(service, request); });
  add("POST", "/v1/batches/{id}/abort", Access::operates, [&](const Request& request) {
    return change(service, request, &Batches::abort, "what has ended cannot be called off");
  });
  add("POST", "/v1/batches/{id}/release", Access::operates, [&](const Request& request) {
    return change(service, request, &Batches::release, "only one that waits can be released");
  });
}

}  // namespace holdfast::server
