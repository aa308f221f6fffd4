#include "http/processor_scenario.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A server that secrets are for, and one of somebody who would like to have them.
class BoundSecrets : public ProcessorScenario {
 protected:
  std::string home_host() const { return fmt::format("http://127.0.0.1:{}", home_.port()); }
  ProcessorOptions bound(Binding binding) const {
    auto options = lenient();
    options.secrets = [=](const std::string& name) { return Secret{"s3cret-" + name, binding}; };
    options.signing_keys["main"] = {{std::string(32, 'k'), binding}};
    return options;
  }
  ProcessorOptions bound_to_home() const { return bound({.hosts = {home_host()}}); }
  /// Everything that a thief saw, in one text.
  std::string loot() {
    std::lock_guard lock{mutex_};
    std::string all;
    for (const auto& request : stolen_) {
      all += request.target + "\n" + request.body + "\n";
      for (const auto& [name, value] : request.headers) all += name + ": " + value + "\n";
    }
    return all;
  }

  std::mutex mutex_;
  std::vector<ServedRequest> seen_, stolen_;
  HttpServer thief_{[this](const ServedRequest& request) {
    std::lock_guard lock{mutex_};
    stolen_.push_back(request);
    if (request.target == "/back") return answer(302, "", "Location: " + home_.url("/last\r\n"));
    return answer(200);
  }};
  HttpServer home_{[this](const ServedRequest& request) {
    std::lock_guard lock{mutex_};
    seen_.push_back(request);
    for (int status : {302, 307, 308})
      if (request.target.starts_with(fmt::format("/{}", status)))
        return answer(status, "",
                      fmt::format("Location: {}\r\n", thief_.url(request.target.substr(4))));
    return answer(200);
  }};
};

TEST_F(BoundSecrets, GoToTheirHostAndNowhereElse) {
  auto with_secret = [](const std::string& name) {
    auto one = call(name);
    one.secret_headers = {{"X-Api-Key", "token"}};
    return one;
  };
  client_.get(home_.url("/"), with_secret("home"));
  client_.get(thief_.url("/"), with_secret("thief"));
  client_.get(fmt::format("http://localhost:{}/", home_.port()), with_secret("by another name"));
  auto told = perform(bound_to_home());
  EXPECT_EQ(told.responses["home"].status, 200);
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_EQ(seen_[0].headers.at("x-api-key"), "s3cret-token");
  for (const auto* name : {"thief", "by another name"}) {
    EXPECT_EQ(told.errors[name].type, ErrorType::missing_secret) << name;
    EXPECT_THAT(told.errors[name].message, HasSubstr("is not bound to http://")) << name;
  }
  EXPECT_EQ(thief_.connections(), 0);
}

TEST_F(BoundSecrets, WithoutABindingAreRefusedAndNothingIsSent) {
  auto one = call("secret");
  one.secret_headers = {{"authorization", "token"}};
  client_.get(home_.url("/"), one);
  auto other = call("key");
  other.sign_with = "main";
  client_.post(home_.url("/"), other);
  auto told = perform(bound({}));
  EXPECT_THAT(told.errors["secret"].message,
              HasSubstr(fmt::format("add '{}' to the hosts", home_host())));
  EXPECT_THAT(told.errors["key"].message, HasSubstr("signing key 'main' is not bound"));
  EXPECT_EQ(home_.connections(), 0);
}

TEST_F(BoundSecrets, AreUsedByTheirQueuesOnly) {
  for (const std::string queue : {"billing-eu", "mail"}) {
    auto one = call(queue);
    one.secret_headers = {{"x-api-key", "token"}};
    one.sign_with = "main";
    Client{engine_, {.task = {.queue = queue}}}.post(home_.url("/"), one);
  }
  auto told = perform(bound({.hosts = {home_host()}, .queues = {"billing*"}}));
  EXPECT_EQ(told.responses["billing-eu"].status, 200);
  EXPECT_EQ(told.errors["mail"].type, ErrorType::missing_secret);
  EXPECT_THAT(told.errors["mail"].message, HasSubstr("queue 'mail'"));
  EXPECT_EQ(home_.served(), 1);
}

TEST_F(BoundSecrets, AreUsedByTheirKindsOnly) {
  auto one = call("x");
  one.secret_headers = {{"x-api-key", "token"}};
  client_.get(home_.url("/"), one);
  auto told = perform(bound({.hosts = {home_host()}, .kinds = {"other"}}));
  EXPECT_THAT(told.errors["x"].message, HasSubstr("kind 'holdfast.http'"));
  EXPECT_EQ(home_.connections(), 0);
}

/// Even where the other server is one that they are bound to.
TEST_F(BoundSecrets, DoNotFollowARedirectToAnotherOrigin) {
  const auto thief = fmt::format("http://127.0.0.1:{}", thief_.port());
  for (const auto* path : {"/302/x", "/307/x", "/302/back"}) {
    auto one = call(path);
    one.headers = {{"x-own", "s3cret-own"}, {"cookie", "s3cret=1"}, {"accept", "text/plain"}};
    one.secret_headers = {{"x-api-key", "token"}};
    one.sign_with = "main";
    client_.post(home_.url(path), one);
  }
  auto told = perform(bound({.hosts = {home_host(), thief}}));
  EXPECT_EQ(told.responses.size(), 3u);
  EXPECT_EQ(stolen_.size(), 3u);
  EXPECT_THAT(loot(), Not(HasSubstr("s3cret")));
  EXPECT_THAT(loot(), Not(HasSubstr("webhook")));
  EXPECT_THAT(loot(), Not(HasSubstr("idempotency-key")));
  EXPECT_THAT(loot(), HasSubstr("accept: text/plain"));
  for (const auto& request : seen_)
    EXPECT_EQ(request.headers.contains("x-api-key"), request.target != "/last") << request.target;
}

TEST_F(BoundSecrets, BodiesDoNotFollowARedirectToAnotherOrigin) {
  for (const std::string path : {"/307/x", "/308/x", "/302/x"}) {
    auto one = call(path);
    one.body = "s3cret body";
    client_.post(home_.url(path), one);
  }
  auto told = perform();
  for (const auto* path : {"/307/x", "/308/x"}) {
    EXPECT_EQ(told.errors[path].type, ErrorType::blocked_address) << path;
    EXPECT_THAT(told.errors[path].message, HasSubstr("its body is not sent on")) << path;
  }
  EXPECT_EQ(told.responses["/302/x"].status, 200) << "as a GET";
  EXPECT_THAT(loot(), Not(HasSubstr("s3cret")));
  EXPECT_EQ(home_.served(), 3) << "and they are not tried again";
}

TEST_F(BoundSecrets, OfAClientGoToItsBaseOnly) {
  ClientOptions options{.base_url = home_.url("/v1"),
                        .headers = {{"X-Team", "s3cret-team"}, {"Accept", "text/plain"}},
                        .secret_headers = {{"X-Api-Key", "token"}}};
  const Client client{engine_, options};
  const auto at_home = client.build(Method::get, "readers/7", {});
  EXPECT_EQ(at_home.secret_headers.at("x-api-key"), "token");
  EXPECT_EQ(at_home.headers.at("x-team"), "s3cret-team");
  EXPECT_EQ(client.build(Method::get, home_.url("/v2"), {}).secret_headers.size(), 1u);
  for (const auto& url :
       {thief_.url("/"), fmt::format("https://127.0.0.1:{}/", home_.port()),
        std::string{"HTTP://127.0.0.1/"}, fmt::format("http://localhost:{}/", home_.port())}) {
    const auto elsewhere = client.build(Method::get, url, {});
    EXPECT_TRUE(elsewhere.secret_headers.empty()) << url;
    EXPECT_EQ(elsewhere.headers, (Headers{{"accept", "text/plain"}})) << url;
  }
  // What looks like another server and is a path of the base.
  for (const auto* path : {"//evil.org/", "@evil.org/", ".evil.org/", ":80@evil.org/", "/\t/x"}) {
    try {
      const auto below = client.build(Method::get, path, {});
      EXPECT_THAT(below.url, testing::StartsWith(home_.url("/v1/"))) << path;
    } catch (const InvalidRequest&) {
      // That is as good.
    }
  }
  EXPECT_THROW(client.build(Method::get, "http://127.0.0.1@evil.org/", {}), InvalidRequest);
}

TEST_F(BoundSecrets, OfACallReplaceThoseOfItsClient) {
  ClientOptions options{.base_url = home_.url(),
                        .headers = {{"X-A", "plain"}},
                        .secret_headers = {{"X-B", "client"}, {"X-C", "client"}}};
  Call one;
  one.headers = {{"x-c", "plain"}};
  one.secret_headers = {{"x-a", "call"}, {"X-B", "call"}};
  const auto request = Client{engine_, options}.build(Method::get, "x", one);
  EXPECT_EQ(request.headers, (Headers{{"x-c", "plain"}}));
  EXPECT_EQ(request.secret_headers, (Headers{{"x-a", "call"}, {"x-b", "call"}}));
  one.headers["x-a"] = "both";
  EXPECT_THROW(Client(engine_, options).build(Method::get, "x", one), InvalidRequest);
}

TEST_F(BoundSecrets, WhatIsForAProxyIsRefused) {
  auto one = call("x");
  one.headers = {{"Proxy-Authorization", "Basic eDp5"}};
  EXPECT_THROW(client_.get(home_.url(), one), InvalidRequest);
  one.headers.clear();
  one.secret_headers = {{"proxy-authorization", "token"}};
  EXPECT_THROW(client_.get(home_.url(), one), InvalidRequest);
}

}  // namespace
}  // namespace holdfast::http
