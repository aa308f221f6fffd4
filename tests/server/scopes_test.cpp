#include <gmock/gmock.h>

#include "recovery/clock.hpp"
#include "server/secrets.hpp"
#include "server/server_under_test.hpp"
#include "support/process.hpp"

namespace holdfast::test {
namespace {

using server::Access;
using server::Scope;
using testing::HasSubstr;
using testing::Not;

/// What each scope opens, written down again: a new way in must be added to both.
bool opens(Scope scope, Access access) {
  switch (scope) {
    case Scope::metrics:
      return access == Access::metrics;
    case Scope::enqueue:
      return access == Access::enqueue;
    case Scope::work:
      return access == Access::work;
    case Scope::viewer:
      return access == Access::viewer || access == Access::metrics;
    case Scope::operates:
      return opens(Scope::viewer, access) || access == Access::operates ||
             access == Access::enqueue || access == Access::work;
    case Scope::admin:
      return opens(Scope::operates, access) || access == Access::admin;
  }
  return false;
}

Headers bearer(const std::string& secret) { return {{"Authorization", "Bearer " + secret}}; }

std::string path_of(const server::Route& route) {
  auto path = route.pattern;
  for (auto place = path.find('{'); place != path.npos; place = path.find('{'))
    path.replace(place, path.find('}') - place + 1, "x");
  return path;
}

class Scopes : public testing::Test {
 protected:
  std::string secret(std::set<Scope> scopes) { return server_.new_token({.scopes = scopes}); }
  /// Asks for a route with something that no handler accepts, so that nothing is changed.
  Answer ask(const server::Route& route, const std::string& token) {
    const bool post = route.method == "POST";
    return server_.bare(route.method, path_of(route) + (post ? "" : "?no_such_parameter=1"),
                        post ? R"({"no_such_member":1})" : "", bearer(token));
  }

  ServerUnderTest server_;
};

TEST_F(Scopes, OpenTheRoutesThatAreTheirsAndNoOther) {
  int open = 0, closed = 0;
  for (const auto scope : server::all_scopes) {
    const auto token = secret({scope});
    for (const auto& route : server_.service().routes().all()) {
      if (route.access == Access::everybody) continue;
      // Ends in a stream, or does not look at what it is asked.
      if (route.pattern == "/v1/openapi.json" || route.pattern == "/v1/logout") continue;
      const auto answer = ask(route, token);
      const auto about = std::string{to_string(scope)} + " " + route.method + " " + route.pattern;
      if (opens(scope, route.access)) {
        EXPECT_NE(answer.status, 401) << about;
        EXPECT_NE(answer.code(), "forbidden") << about << ": " << answer.body;
        ++open;
      } else {
        EXPECT_EQ(answer.status, 403) << about << ": " << answer.body;
        EXPECT_THAT(answer.body, HasSubstr("takes a token with the scope")) << about;
        ++closed;
      }
    }
    EXPECT_EQ(server_.bare("GET", "/v1/nothing/here", {}, bearer(token)).status,
              opens(scope, Access::viewer) ? 404 : 403);
  }
  EXPECT_GT(open, 100);
  EXPECT_GT(closed, 100);
  EXPECT_EQ(server_.inspector().count({}), 0);
}

TEST_F(Scopes, CanBeSeveral) {
  const auto token = secret({Scope::metrics, Scope::enqueue});
  EXPECT_EQ(server_.bare("GET", "/metrics", {}, bearer(token)).status, 200);
  EXPECT_EQ(server_.bare("POST", "/v1/tasks", R"({"kind":"a"})", bearer(token)).status, 201);
  EXPECT_EQ(server_.bare("GET", "/v1/tasks", {}, bearer(token)).status, 403);
}

TEST_F(Scopes, DoNotLogIn) {
  const auto token = secret({Scope::admin});
  EXPECT_EQ(server_.bare("POST", "/v1/login", R"({"token":")" + token + R"("})").status, 401);
}

TEST(ScopesOfAReadOnlyServer, OnlyLook) {
  ServerUnderTest server{{.read_only = true}};
  const auto token = server.new_token({.scopes = {server::all_scopes, server::all_scopes + 6}});
  EXPECT_EQ(server.bare("GET", "/metrics", {}, bearer(token)).status, 200);
  EXPECT_EQ(server.bare("GET", "/v1/tasks", {}, bearer(token)).status, 200);
  for (const auto* path : {"/v1/tasks", "/v1/remote/workers", "/v1/tokens"})
    EXPECT_THAT(server.bare("POST", path, "{}", bearer(token)).body, HasSubstr("--read-only"));
  EXPECT_EQ(server.bare("GET", "/v1/audit", {}, bearer(token)).status, 403);
}

TEST_F(Scopes, EndWithTheTokenAlsoForThoseWhoWait) {
  const auto token = server_.new_token({.name = "viewer", .scopes = {Scope::viewer, Scope::work}});
  const auto worker =
      server_.bare("POST", "/v1/remote/workers", R"({"kinds":["a"]})", bearer(token)).json();
  Wire events{server_.port()}, claim{server_.port()};
  Headers headers = bearer(token);
  headers["Host"] = server_.host();
  events.send(request_text("GET", "/v1/events", {}, headers));
  EXPECT_THAT(events.until("event: point"), HasSubstr("200 OK"));
  headers["Content-Type"] = "application/json";
  headers["Holdfast-Worker-Secret"] = std::string{worker.at("secret").as_string()};
  const auto listed = server_.tokens().list().tokens.front();
  const auto used_before = server_.tokens().last_used(listed);
  claim.send(request_text(
      "POST", "/v1/remote/workers/" + std::string{worker.at("worker").as_string()} + "/claim",
      R"({"wait_ms":25000})", headers));
  ASSERT_TRUE(eventually([&] { return server_.tokens().last_used(listed) != used_before; }))
      << "it was let in before the token is revoked";
  ASSERT_TRUE(server_.tokens().revoke("viewer", "test", system_clock().wall()));
  EXPECT_EQ(claim.answer().status, 401);
  const auto began = system_clock().steady();
  events.rest();
  EXPECT_LT(system_clock().steady() - began, Millis{15'000}) << "the stream was closed";
  EXPECT_THAT(server_.bare("GET", "/v1/tasks", {}, bearer(token)).body, HasSubstr("was revoked"));
}

TEST_F(Scopes, AreAuditedUnderTheNameOfTheToken) {
  const auto admin = server_.new_token({.name = "deployer", .scopes = {Scope::admin}});
  const auto made =
      server_.bare("POST", "/v1/tokens",
                   R"({"name":"mailer","scopes":["work"],"kinds":["mail.*"]})", bearer(admin));
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string secret{made.json().at("secret").as_string()};
  const auto enlisted =
      server_.bare("POST", "/v1/remote/workers", R"({"kinds":["mail.send"]})", bearer(secret));
  ASSERT_EQ(enlisted.status, 201) << enlisted.body;
  const std::string worker{enlisted.json().at("worker").as_string()};
  EXPECT_EQ(server_.bare("POST", "/v1/queues/q/pause", "{}", bearer(admin)).status, 204);
  EXPECT_EQ(server_.bare("POST", "/v1/tokens/mailer/revoke", "{}", bearer(admin)).status, 200);
  EXPECT_EQ(server_.bare("POST", "/v1/tokens/mailer/revoke", "{}", bearer(admin)).status, 404);
  server::Tokens{server_.folder() + "/tokens"}.add({.name = "by-hand",
                                                    .scopes = {Scope::metrics},
                                                    .created = system_clock().wall(),
                                                    .created_by = "cli/ada"});
  const auto entries = server_.get("/v1/audit").json().at("entries").as_array();
  std::vector<std::string> told;
  for (const auto& entry : entries)
    told.push_back(std::string{entry.at("who").as_string()} + " " +
                   entry.at("what").as_string().c_str() + " " +
                   entry.at("outcome").as_string().c_str());
  EXPECT_THAT(told, testing::IsSupersetOf(std::vector<std::string>{
                        "token/deployer POST /v1/tokens 201 token mailer",
                        "token/deployer POST /v1/queues/q/pause 204",
                        "token/mailer POST /v1/remote/workers 201 worker " + worker,
                        "cli/ada token add by-hand found in the file"}));
  const auto all = server_.get("/v1/audit").body + server_.get("/v1/tokens").body +
                   server_.get("/v1/workers").body;
  EXPECT_THAT(all, Not(HasSubstr(secret)));
  EXPECT_THAT(all, Not(HasSubstr(server::fingerprint(secret))));
  EXPECT_THAT(all, Not(HasSubstr(std::string{enlisted.json().at("secret").as_string()})));
  EXPECT_THAT(server_.get("/v1/workers").body, HasSubstr(R"("enlisted_by":"token/mailer")"));
}

TEST_F(Scopes, AreRefusedWithAClearTextWhereTheFileCannotBeRead) {
  const auto token = secret({Scope::viewer});
  ASSERT_EQ(server_.bare("GET", "/v1/tasks", {}, bearer(token)).status, 200);
  std::filesystem::permissions(server_.folder() + "/tokens", std::filesystem::perms::all);
  const auto answer = server_.bare("GET", "/v1/tasks", {}, bearer(token));
  EXPECT_EQ(answer.code(), "tokens_away");
  EXPECT_THAT(answer.body, Not(HasSubstr(server_.folder())));
  EXPECT_EQ(server_.get("/v1/tasks").status, 200) << "people are not harmed";
}

TEST_F(Scopes, DoNotTellWhyAStoreIsAwayUnlessTheyMayLook) {
  EXPECT_EQ(server_.bare("GET", "/readyz", {}, bearer(secret({Scope::metrics}))).status, 200);
}

}  // namespace
}  // namespace holdfast::test
