#include <fstream>
#include <iterator>
#include <set>

#include <gmock/gmock.h>
#include <boost/json/parse.hpp>

#include <holdfast/batches.hpp>
#include <holdfast/limit.hpp>
#include <holdfast/schedule.hpp>
#include <holdfast/transactions.hpp>

#include "server/server_under_test.hpp"
#include "support/process.hpp"

namespace holdfast::test {
namespace {

namespace json = boost::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const json::value& document() {
  static const json::value read = [] {
    std::ifstream file{HOLDFAST_SOURCE_DIR "/src/server/openapi.json"};
    return json::parse(std::string{std::istreambuf_iterator<char>{file}, {}});
  }();
  return read;
}

/// `GET /metrics viewer metrics` for each route: the role, and the scope that is enough.
std::set<std::string> documented() {
  std::set<std::string> found;
  for (const auto& [path, methods] : document().at("paths").as_object())
    for (const auto& [method, operation] : methods.as_object()) {
      std::string name{method};
      for (char& letter : name) letter = static_cast<char>(std::toupper(letter));
      const auto* scope = operation.as_object().if_contains("x-holdfast-scope");
      found.insert(name + " " + std::string{path} + " " +
                   operation.at("x-holdfast-role").as_string().c_str() + " " +
                   (scope ? scope->as_string().c_str() : ""));
    }
  return found;
}

class Document : public testing::Test {
 protected:
  /// What is wrong with the answer to a documented request.
  std::string fault(const std::string& method, const std::string& pattern,
                    const std::string& target, const std::string& body = {}) {
    const auto answer = method == "get" ? server_.get(target) : server_.post(target, body);
    const auto& operation = document().at("paths").at(pattern).at(method);
    for (const auto& [status, response] : operation.at("responses").as_object()) {
      if (status != std::to_string(answer.status)) continue;
      visited_.insert(method + " " + pattern);
      const auto* content = response.as_object().if_contains("content");
      if (!content) return answer.body.empty() ? "" : "a body that is not documented";
      const auto& [type, media] = *content->as_object().begin();
      if (type != "application/json") return "";
      return misfit(answer.json(), media.at("schema"), document());
    }
    return "status " + std::to_string(answer.status) + ": " + answer.body;
  }

  ServerUnderTest server_;
  std::set<std::string> visited_;
};

TEST_F(Document, NamesEveryRouteAndEveryRouteIsNamed) {
  std::set<std::string> there;
  for (const auto& route : server_.service().routes().all()) {
    EXPECT_NE(route.access, server::Access::undeclared) << route.pattern << " declares no role";
    const bool page = route.pattern == "/" || route.pattern.starts_with("/{page}");
    const auto scope = server::scope_for(route.access);
    if (!page)
      there.insert(route.method + " " + route.pattern + " " + std::string{to_string(route.access)} +
                   " " + std::string{scope ? to_string(*scope) : ""});
  }
  EXPECT_EQ(there, documented());
}

TEST_F(Document, IsServed) { EXPECT_EQ(server_.get("/v1/openapi.json").json(), document()); }

TEST_F(Document, SaysWhatQuestionsAreAnsweredWith) {
  const auto failed = server_.enqueue("fails", R"({"password":"x","a":[1]})", {.tags = {"t"}});
  const auto id = failed.text();
  Schedules{server_.engine()}.add(
      {.name = "nightly", .cron = "0 3 * * *", .task = {"clean", "{}"}});
  Limits{server_.engine()}.set(
      {.scope = LimitScope::kind, .name = "fails", .max_running = 2, .rate = Rate{.tasks = 5}});
  const auto batch = Batches{server_.engine()}
                         .submit({.app = "shop", .op = "price", .rows = {{1, "{}"}}})
                         .id.text();
  server_.enqueue("http.request", R"({"url":"http://127.0.0.1/","http_method":"get"})");
  ASSERT_EQ(server_.post("/v1/remote/workers", R"({"kinds":["fails"]})").status, 201);
  server_.new_token({.scopes = {server::Scope::metrics}});
  const std::pair<const char*, std::string> questions[] = {
      {"/healthz", "/healthz"},
      {"/readyz", "/readyz"},
      {"/metrics", "/metrics"},
      {"/v1/session", "/v1/session"},
      {"/v1/openapi.json", "/v1/openapi.json"},
      {"/v1/stores", "/v1/stores"},
      {"/v1/health", "/v1/health"},
      {"/v1/tasks", "/v1/tasks?state=pending&limit=1"},
      {"/v1/tasks/count", "/v1/tasks/count?kind=fails"},
      {"/v1/tasks/{id}", "/v1/tasks/" + id},
      {"/v1/tasks/{id}/history", "/v1/tasks/" + id + "/history"},
      {"/v1/tasks/{id}/logs", "/v1/tasks/" + id + "/logs"},
      {"/v1/tasks/{id}/explain", "/v1/tasks/" + id + "/explain"},
      {"/v1/queues", "/v1/queues"},
      {"/v1/workers", "/v1/workers"},
      {"/v1/recovery", "/v1/recovery"},
      {"/v1/recovery/reports", "/v1/recovery/reports"},
      {"/v1/metrics/history", "/v1/metrics/history?seconds=60"},
      {"/v1/metrics/kinds", "/v1/metrics/kinds"},
      {"/v1/settings", "/v1/settings"},
      {"/v1/audit", "/v1/audit"},
      {"/v1/tokens", "/v1/tokens"},
      {"/v1/schedules", "/v1/schedules"},
      {"/v1/limits", "/v1/limits"},
      {"/v1/http/requests", "/v1/http/requests"},
      {"/v1/http/stats", "/v1/http/stats"},
      {"/v1/batches", "/v1/batches"},
      {"/v1/batches/{id}", "/v1/batches/" + batch},
      {"/v1/batches/{id}/rows", "/v1/batches/" + batch + "/rows"},
      {"/v1/batches/{id}/rows/{line}", "/v1/batches/" + batch + "/rows/1"},
      {"/v1/dead-letters", "/v1/dead-letters"},
      {"/v1/transactions", "/v1/transactions"}};
  for (const auto& [pattern, target] : questions)
    EXPECT_THAT(fault("get", pattern, target), IsEmpty()) << target;
  // Elsewhere: events, the login link, output files, and one transaction.
  for (const auto& route : server_.service().routes().all()) {
    const bool elsewhere = route.method != "GET" || !route.pattern.starts_with("/v1/") ||
                           route.pattern == "/v1/events" ||
                           route.pattern == "/v1/batches/{id}/output" ||
                           route.pattern == "/v1/dead-letters/{letter}" ||
                           route.pattern.starts_with("/v1/transactions/{id}");
    EXPECT_TRUE(elsewhere || visited_.contains("get " + route.pattern)) << route.pattern;
  }
}

TEST_F(Document, SaysWhatActionsAreAnsweredWith) {
  const auto id = server_.enqueue("work").text();
  Schedules{server_.engine()}.add(
      {.name = "nightly", .cron = "0 3 * * *", .task = {"clean", "{}"}});
  NewBatch waits{.app = "shop", .op = "price", .rows = {{1, "{}"}}, .wait = true};
  const auto batch = Batches{server_.engine()}.submit(waits).id.text();
  const auto ids = R"({"ids":[")" + id + R"("]})";
  open_broker(server_.engine())->declare("mail");
  const std::tuple<const char*, std::string, std::string> actions[] = {
      {"/v1/messages/send", "/v1/messages/send", R"({"queue":"mail","id":"m-1","body":"x"})"},
      {"/v1/messages/receive", "/v1/messages/receive", R"({"queue":"mail"})"},
      {"/v1/messages/acknowledge", "/v1/messages/acknowledge", R"({"receipts":["x"]})"},
      {"/v1/messages/return", "/v1/messages/return", R"({"receipts":["x"]})"},
      {"/v1/dead-letters/discard", "/v1/dead-letters/discard", R"({"all":true})"},
      {"/v1/dead-letters/replay", "/v1/dead-letters/replay", R"({"all":true})"},
      {"/v1/tasks", "/v1/tasks", R"({"kind":"work","payload":{"a":1}})"},
      {"/v1/tasks/hold", "/v1/tasks/hold", ids},
      {"/v1/tasks/retry", "/v1/tasks/retry", R"({"filter":{"state":["held"]}})"},
      {"/v1/tasks/cancel", "/v1/tasks/cancel", R"({"all":true,"dry_run":true})"},
      {"/v1/queues/{queue}/pause", "/v1/queues/default/pause", "{}"},
      {"/v1/queues/{queue}/resume", "/v1/queues/default/resume", "{}"},
      {"/v1/recovery", "/v1/recovery", R"({"dry_run":true})"},
      {"/v1/schedules", "/v1/schedules",
       R"({"name":"daily","cron":"@daily","zone":"Europe/Berlin","task":{"kind":"clean"}})"},
      {"/v1/schedules/{name}/pause", "/v1/schedules/nightly/pause", "{}"},
      {"/v1/schedules/{name}/resume", "/v1/schedules/nightly/resume", "{}"},
      {"/v1/schedules/{name}/remove", "/v1/schedules/nightly/remove", "{}"},
      {"/v1/limits", "/v1/limits", R"({"scope":"queue","name":"q","max_running":3})"},
      {"/v1/limits/remove", "/v1/limits/remove", R"({"scope":"queue","name":"q"})"},
      {"/v1/http/stats/clear", "/v1/http/stats/clear", "{}"},
      {"/v1/batches/{id}/release", "/v1/batches/" + batch + "/release", "{}"},
      {"/v1/batches/{id}/abort", "/v1/batches/" + batch + "/abort", "{}"},
      {"/v1/remote/workers", "/v1/remote/workers", R"({"kinds":["work"]})"},
      {"/v1/tokens", "/v1/tokens", R"({"name":"mailer","scopes":["enqueue"],"kinds":["mail.*"]})"},
      {"/v1/tokens/{name}/revoke", "/v1/tokens/mailer/revoke", "{}"},
      {"/v1/logout", "/v1/logout", "{}"}};
  for (const auto& [pattern, target, body] : actions)
    EXPECT_THAT(fault("post", pattern, target, body), IsEmpty()) << target;
  EXPECT_EQ(server_.inspector().count({}), 2);
}

TEST_F(Document, RefusesWhatItDoesNotName) {
  EXPECT_EQ(server_.get("/v1/tasks?stat=failed").code(), "invalid_request");
  EXPECT_EQ(server_.post("/v1/tasks", R"({"kind":"a","que":"b"})").code(), "invalid_request");
  EXPECT_EQ(server_.post("/v1/tasks/cancel", R"({})").code(), "invalid_request");
  EXPECT_EQ(server_.post("/v1/tasks/cancel", R"({"filter":{}})").code(), "invalid_request");
  EXPECT_EQ(server_.post("/v1/tasks", "{").code(), "not_json");
  EXPECT_EQ(server_.get("/v1/nothing").status, 404);
  EXPECT_EQ(server_.post("/v1/queues").status, 405);
  auto untyped = server_.bearer();
  untyped["Content-Type"] = "text/plain";
  const auto deleting = server_.bare("DELETE", "/v1/tasks", {}, untyped);
  EXPECT_EQ(deleting.status, 405) << "the type does not matter where nothing is done";
  EXPECT_EQ(server_.bare("POST", "/v1/tasks", "{}", untyped).status, 415);
  const auto removed = server_.bare(
      "DELETE", "/v1/tasks", {},
      {{"Authorization", "Bearer " + server_.token()}, {"Content-Type", "application/json"}});
  EXPECT_EQ(removed.status, 405);
  EXPECT_EQ(removed.headers.at("allow"), "GET, HEAD, POST");
}

TEST_F(Document, HeadIsAnsweredLikeGetWithoutTheBody) {
  Wire wire{server_.port()};
  const auto ask = [&](const std::string& target) {
    wire.send(request_text("HEAD", target, {}, {{"Host", server_.host()}}));
    return wire.until("\r\n\r\n");
  };
  const auto alive = ask("/healthz");
  EXPECT_THAT(alive, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(alive, HasSubstr("Content-Length: 6\r\n"));
  EXPECT_THAT(ask("/v1/tasks"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask("/healthz"), StartsWith("HTTP/1.1 200 ")) << "there was no body in between";
}

}  // namespace
}  // namespace holdfast::test
