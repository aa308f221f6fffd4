#include <gmock/gmock.h>

#include "server/secrets.hpp"
#include "server/server_under_test.hpp"
#include "server/sessions.hpp"
#include "server/users.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Gate : public testing::Test {
 protected:
  struct Browser {
    std::string cookie, csrf;
  };
  Browser log_in(const std::string& body) {
    const auto answer = server_.bare("POST", "/v1/login", body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    const auto& cookie = answer.headers.at("set-cookie");
    return {cookie.substr(0, cookie.find(';')), std::string{answer.json().at("csrf").as_string()}};
  }
  Browser log_in() { return log_in(R"({"token":")" + server_.token() + R"("})"); }

  ServerUnderTest server_;
};

TEST_F(Gate, LetsNobodyInWithoutAToken) {
  int refused = 0;
  for (const auto& route : server_.service().routes().all()) {
    if (route.access == server::Access::everybody) continue;
    auto path = route.pattern;
    for (auto place = path.find('{'); place != path.npos; place = path.find('{'))
      path.replace(place, path.find('}') - place + 1, "x");
    const auto answer = server_.bare(route.method, path, route.method == "POST" ? "{}" : "");
    EXPECT_EQ(answer.status, 401) << route.method << " " << path << ": " << answer.body;
    EXPECT_EQ(answer.code(), "unauthenticated");
    EXPECT_THAT(answer.body, testing::Not(testing::HasSubstr("[hidden]"))) << "what to do is told";
    for (const std::string prefix : {"", "hf_"}) {
      const auto wrong =
          server_.bare(route.method, path, route.method == "POST" ? "{}" : "",
                       {{"Authorization", "Bearer " + prefix + server::random_secret()}});
      EXPECT_EQ(wrong.status, 401) << route.method << " " << path;
    }
    ++refused;
  }
  EXPECT_GT(refused, 45);
  EXPECT_EQ(server_.bare("POST", "/v1/nothing", "{}").status, 401);
}

TEST(ReadOnlyServer, LetsEverybodyLookAndNobodyAct) {
  ServerUnderTest server{{.read_only = true}};
  server.enqueue("a");
  EXPECT_EQ(server.get("/v1/tasks").status, 200);
  EXPECT_EQ(server.get("/v1/session").json().at("role"), "viewer");
  int refused = 0;
  for (const auto& route : server.service().routes().all()) {
    if (route.method == "GET" || route.access == server::Access::everybody ||
        route.pattern == "/v1/logout")
      continue;
    auto path = route.pattern;
    for (auto place = path.find('{'); place != path.npos; place = path.find('{'))
      path.replace(place, path.find('}') - place + 1, "x");
    const auto answer = server.post(path);
    EXPECT_EQ(answer.status, 403) << path << ": " << answer.body;
    EXPECT_THAT(answer.body, HasSubstr("--read-only"));
    ++refused;
  }
  EXPECT_GT(refused, 20);
  const auto login = server.bare("POST", "/v1/login", R"({"token":")" + server.token() + R"("})");
  EXPECT_EQ(login.json().at("role"), "viewer");
}

TEST_F(Gate, OpensForEverybodyOnlyWhatIsMeantToBe) {
  std::vector<std::string> open;
  for (const auto& route : server_.service().routes().all())
    if (route.access == server::Access::everybody) open.push_back(route.method + route.pattern);
  EXPECT_THAT(
      open, testing::UnorderedElementsAre("GET/login", "POST/v1/login", "GET/healthz", "GET/readyz",
                                          "GET/", "GET/{page}", "GET/{page}/{part}"));
}

TEST_F(Gate, NeedsTheCsrfTokenForEveryChangeOfASession) {
  const auto browser = log_in();
  const Headers cookie{{"Cookie", browser.cookie}};
  EXPECT_EQ(server_.bare("GET", "/v1/queues", {}, cookie).status, 200);
  EXPECT_EQ(server_.bare("POST", "/v1/queues/q/pause", "{}", cookie).code(), "csrf");
  auto wrong = cookie;
  wrong["X-CSRF-Token"] = server::random_secret();
  EXPECT_EQ(server_.bare("POST", "/v1/queues/q/pause", "{}", wrong).code(), "csrf");
  auto right = cookie;
  right["X-CSRF-Token"] = browser.csrf;
  EXPECT_EQ(server_.bare("POST", "/v1/queues/q/pause", "{}", right).status, 204);
  EXPECT_EQ(server_.bare("POST", "/v1/logout", "{}", right).status, 204);
  EXPECT_EQ(server_.bare("GET", "/v1/queues", {}, cookie).status, 401);
}

TEST_F(Gate, RefusesWhatOtherSitesMakeABrowserSend) {
  const auto browser = log_in();
  const Headers own{{"Cookie", browser.cookie}, {"X-CSRF-Token", browser.csrf}};
  auto with = [&](const std::string& name, const std::string& value) {
    auto headers = own;
    headers[name] = value;
    return server_.bare("POST", "/v1/queues/q/pause", "{}", headers);
  };
  EXPECT_EQ(with("Origin", "https://evil.example").code(), "cross_site");
  EXPECT_EQ(with("Origin", "null").code(), "cross_site");
  EXPECT_EQ(with("Origin", "http://127.0.0.1:1").code(), "cross_site");
  EXPECT_EQ(with("Sec-Fetch-Site", "cross-site").code(), "cross_site");
  EXPECT_EQ(with("Sec-Fetch-Site", "same-site").code(), "cross_site");
  EXPECT_EQ(with("Content-Type", "text/plain").status, 415);
  EXPECT_EQ(with("Content-Type", "application/x-www-form-urlencoded").status, 415);
  EXPECT_EQ(with("Origin", "http://" + server_.host()).status, 204);
  EXPECT_EQ(with("Sec-Fetch-Site", "same-origin").status, 204);
  auto embedded = own;
  embedded["Sec-Fetch-Site"] = "cross-site";
  EXPECT_EQ(server_.bare("GET", "/v1/tasks", {}, embedded).code(), "cross_site");
  EXPECT_EQ(server_.bare("GET", "/v1/events", {}, embedded).code(), "cross_site");
}

TEST_F(Gate, KnowsItsOwnNames) {
  for (const auto* host : {"evil.example", "evil.example:80", "127.0.0.1.evil.example", ""}) {
    auto headers = server_.bearer();
    headers["Host"] = host;
    EXPECT_EQ(server_.bare("GET", "/v1/tasks", {}, headers).code(), "wrong_host") << host;
    EXPECT_EQ(server_.bare("GET", "/", {}, headers).code(), "wrong_host") << host;
  }
  auto headers = server_.bearer();
  headers["Host"] = "LOCALHOST:1234";
  EXPECT_EQ(server_.bare("GET", "/v1/tasks", {}, headers).status, 200);
}

TEST_F(Gate, CookiesCannotBeReadByScriptsNorSentByOthers) {
  const auto answer =
      server_.bare("POST", "/v1/login", R"({"token":")" + server_.token() + R"("})");
  const auto& cookie = answer.headers.at("set-cookie");
  EXPECT_THAT(cookie, HasSubstr("HttpOnly"));
  EXPECT_THAT(cookie, HasSubstr("SameSite=Strict"));
  EXPECT_THAT(cookie, Not(HasSubstr(server_.token())));
  for (const auto* target : {"/", "/v1/session", "/healthz"}) {
    const auto headers = server_.bare("GET", target).headers;
    EXPECT_EQ(headers.at("x-frame-options"), "DENY");
    EXPECT_THAT(headers.at("content-security-policy"), HasSubstr("default-src 'none'"));
    EXPECT_THAT(headers.at("content-security-policy"), HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(headers.at("content-security-policy"), Not(HasSubstr("unsafe")));
    EXPECT_EQ(headers.at("referrer-policy"), "no-referrer");
  }
}

TEST_F(Gate, LinksWorkOnce) {
  const auto code = server_.service().gate().one_time_code();
  const auto first = server_.bare("GET", "/login?once=" + code);
  EXPECT_EQ(first.status, 303);
  EXPECT_EQ(first.headers.at("location"), "/");
  const auto cookie = first.headers.at("set-cookie");
  EXPECT_EQ(server_.bare("GET", "/v1/session", {}, {{"Cookie", cookie.substr(0, cookie.find(';'))}})
                .status,
            200);
  EXPECT_EQ(server_.bare("GET", "/login?once=" + code).status, 401);
  EXPECT_EQ(server_.bare("GET", "/login?once=").status, 401);
  const auto again =
      server_.bare("GET", "/login?once=" + code, {}, {{"Sec-Fetch-Mode", "navigate"}});
  EXPECT_EQ(again.status, 303) << "a browser is led to the pages";
  EXPECT_EQ(again.headers.at("location"), "/?link=spent");
  EXPECT_FALSE(again.headers.contains("set-cookie"));
}

TEST_F(Gate, MakesGuessingSlow) {
  int refused = 0;
  for (int i = 0; i < 8; ++i)
    refused += server_.bare("POST", "/v1/login", R"({"token":"guess"})").status == 429;
  EXPECT_GE(refused, 2);
  const auto answer =
      server_.bare("POST", "/v1/login", R"({"token":")" + server_.token() + R"("})");
  EXPECT_EQ(answer.code(), "rate_limited");
  EXPECT_GE(std::stoi(answer.headers.at("retry-after")), 1);
}

TEST(Sessions, End) {
  server::Sessions sessions;
  const WallTime now{Millis{1'000}};
  const auto session = sessions.begin("ada", server::Role::viewer, "", now);
  EXPECT_TRUE(sessions.find(session.id, now));
  EXPECT_FALSE(sessions.find(session.id + "x", now));
  EXPECT_FALSE(sessions.find(session.id, now + server::Sessions::lifetime));
}

TEST(Users, HaveRolesAndCanBeRemovedWhileTheyAreLoggedIn) {
  TempStore place;
  const auto path = (place.folder() / "list").string();
  server::Users list{path};
  list.add("vera", server::Role::viewer, "long enough");
  list.add("otto", server::Role::operates, "long enough too");
  EXPECT_EQ(list.verify("vera", "long enough").value().role, server::Role::viewer);
  EXPECT_FALSE(list.verify("vera", "long enougH"));
  EXPECT_FALSE(list.verify("nobody", "long enough"));
  std::string text;
  for (const auto& user : list.list()) {
    EXPECT_THAT(user.hash, HasSubstr("$argon2id$"));
    text += user.name + " " + std::string{to_string(user.role)} + " " + user.hash + "\n";
  }
  ServerUnderTest server{{.users = text}};
  const auto answer =
      server.bare("POST", "/v1/login", R"({"user":"vera","password":"long enough"})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto& cookie = answer.headers.at("set-cookie");
  const Headers vera{{"Cookie", cookie.substr(0, cookie.find(';'))},
                     {"X-CSRF-Token", std::string{answer.json().at("csrf").as_string()}}};
  EXPECT_EQ(server.bare("GET", "/v1/tasks", {}, vera).status, 200);
  EXPECT_EQ(server.bare("POST", "/v1/tasks", R"({"kind":"a"})", vera).code(), "forbidden");
  EXPECT_EQ(server.bare("POST", "/v1/queues/q/pause", "{}", vera).code(), "forbidden");
  EXPECT_EQ(server.bare("GET", "/v1/audit", {}, vera).code(), "forbidden");
  EXPECT_EQ(server.bare("GET", "/v1/batches/b/output?name=a", {}, vera).code(), "forbidden");
  const auto id = server.enqueue("k", R"({"token":"t"})").text();
  EXPECT_EQ(server.bare("GET", "/v1/tasks/" + id + "?reveal=true", {}, vera).code(), "forbidden");
  server.enqueue("k", R"({"password":"hunter2","login":{"api_key":"k","n":1}})");
  const auto search = [&](const std::string& field) {
    return server.bare("GET", "/v1/tasks?payload_field=" + field, {}, vera);
  };
  EXPECT_EQ(search("password&payload_value=hunter2").code(), "forbidden");
  EXPECT_EQ(search("password").code(), "forbidden");
  EXPECT_EQ(search("login.api_key&payload_value=k").code(), "forbidden");
  const auto whole = search("login&payload_value=%7B%22api_key%22:%22k%22,%22n%22:1%7D");
  EXPECT_EQ(whole.json().at("tasks").as_array().size(), 0u) << "guessed around the hidden one";
  EXPECT_EQ(search("login.n&payload_value=1").json().at("tasks").as_array().size(), 1u);
  EXPECT_THAT(server.get("/v1/tasks?payload_field=password&payload_value=hunter2").body,
              HasSubstr("[hidden]"));
  const auto audit = server.get("/v1/audit").body;
  EXPECT_THAT(audit, HasSubstr("search /v1/tasks by password"));
  EXPECT_THAT(audit, Not(HasSubstr("hunter2")));
  server::Users{(server.store().folder() / "users").string()}.remove("vera");
  EXPECT_EQ(server.bare("GET", "/v1/tasks", {}, vera).status, 401);
}

}  // namespace
}  // namespace holdfast::test
