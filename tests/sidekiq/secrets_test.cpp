#include "sidekiq/sidekiq_scenario.hpp"

namespace holdfast::sidekiq {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class SidekiqSecrets : public SidekiqScenario {
 protected:
  /// A request with a secret in a header and one in its URL.
  void push_with_secrets(const std::string& url) {
    auto job = job_of({.url = url});
    auto& data = job["args"].as_array()[0].as_object();
    data["headers"] = {{"x-api-key", {{"$secret", "header"}}}};
    data["secret_params"] = {{"sig", {{"$secret", "param"}}}};
    push_text("default", boost::json::serialize(job));
  }
};

TEST_F(SidekiqSecrets, AreSentAndToldToNobodyElse) {
  ServedRequest seen;
  HttpServer server{[&](const ServedRequest& request) {
    if (request.target.starts_with("/moved")) return answer(302, "", "Location: /there\r\n");
    seen = request;
    return answer(200);
  }};
  auto with = options();
  with.processor.secrets = [](const std::string& name) { return http::Secret{"s3cret-" + name}; };
  push_with_secrets(server.url("/here?a=1"));
  EXPECT_EQ(perform(with).answered, 1);
  EXPECT_EQ(seen.headers.at("x-api-key"), "s3cret-header");
  EXPECT_EQ(seen.target, "/here?a=1&sig=s3cret-param");
  push_with_secrets(server.url("/moved"));
  EXPECT_EQ(perform(with).answered, 1);
  push_with_secrets("http://127.0.0.1:1/");  // where nobody is
  with.retries = 0;
  EXPECT_EQ(perform(with).errors, 1);
  const auto told = queue();
  ASSERT_THAT(told, SizeIs(3));
  for (const auto& job : told) EXPECT_THAT(boost::json::serialize(job), Not(HasSubstr("s3cret")));
  EXPECT_EQ(told[0].at("args").at(0).at("url").as_string(), server.url("/here?a=1"));
}

TEST_F(SidekiqSecrets, ThatCannotBeReadNowAreLookedUpAgainWithoutACharge) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  auto with = options();
  int asked = 0;
  with.processor.secrets = [&](const std::string&) -> http::Secret {
    if (++asked < 3) throw Error{"its file is empty"};
    return {"s3cret"};
  };
  push_with_secrets(server.url("/"));
  const auto summary = perform(with);
  EXPECT_EQ(summary.answered, 1);
  EXPECT_EQ(summary.retried, 0);
  EXPECT_EQ(summary.given_back, 2);
  EXPECT_EQ(server.served(), 1);
  EXPECT_THAT(set("retry"), IsEmpty());
  ASSERT_THAT(errors_, SizeIs(2));
  EXPECT_THAT(errors_[0], HasSubstr("requests cannot begin here"));
  EXPECT_THAT(errors_[0], HasSubstr("cannot be read: its file is empty"));
  EXPECT_THAT(infos_, testing::Contains("requests can begin here again"));
  expect_nothing_in_flight();
}

TEST_F(SidekiqSecrets, ThatCannotBeReadAreToldAndOthersAreSent) {
  constexpr int bad = 3, good = 20;
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  auto with = options();
  with.processor.until_empty = false;
  with.processor.capacity = 4;
  with.processor.secrets = [](const std::string&) -> http::Secret {
    throw Error{"Permission denied"};
  };
  for (int i = 0; i < bad; ++i) push_with_secrets("http://127.0.0.1:1/");
  for (int i = 0; i < good; ++i) push({.url = server.url(), .id = std::to_string(i)});
  Running processor{address(), with};
  EXPECT_TRUE(test::eventually([&] { return server.served() == good; }, std::chrono::seconds{60}));
  EXPECT_TRUE(test::eventually(
      [&] {
        const auto status = http::sidekiq_status(address());
        return !status.processes.empty() &&
               status.processes[0].trouble.find("Permission denied") != std::string::npos;
      },
      std::chrono::seconds{60}));
  processor.stop();
  EXPECT_THAT(set("retry"), IsEmpty()) << "no failure is counted";
  EXPECT_THAT(set("dead"), IsEmpty());
}

TEST_F(SidekiqSecrets, ThatAreBoundGoToTheirHostQueueAndClassOnly) {
  HttpServer home{[](const ServedRequest&) { return answer(200); }};
  HttpServer thief{[](const ServedRequest&) { return answer(200); }};
  http::Binding binding{.hosts = {fmt::format("http://127.0.0.1:{}", home.port())}};
  auto with = options();
  with.processor.secrets = [&](const std::string& name) {
    return http::Secret{"s3cret-" + name, binding};
  };
  push_with_secrets(home.url("/here"));
  push_with_secrets(thief.url("/there"));
  const auto summary = perform(with);
  EXPECT_EQ(summary.answered, 1);
  EXPECT_EQ(summary.retried, 1);
  EXPECT_EQ(home.served(), 1);
  ASSERT_THAT(set("retry"), testing::SizeIs(1));
  EXPECT_THAT(std::string{set("retry")[0].at("error_message").as_string()},
              HasSubstr("is not bound to http://127.0.0.1"));
  binding.queues = {"other"};
  push_with_secrets(home.url("/here"));
  EXPECT_EQ(perform(with).retried, 1);
  binding.queues = {"default"};
  binding.kinds = {"Other::Worker"};
  push_with_secrets(home.url("/here"));
  EXPECT_EQ(perform(with).retried, 1);
  binding.kinds = {"Sidekiq::AsyncHttp::*"};
  push_with_secrets(home.url("/here"));
  EXPECT_EQ(perform(with).answered, 1);
  EXPECT_EQ(thief.connections(), 0);
  EXPECT_EQ(home.served(), 2);
}

TEST_F(SidekiqSecrets, WithoutABindingAreSentUnlessThatIsRefused) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  auto with = options();
  with.processor.secrets = [](const std::string&) { return http::Secret{"s3cret"}; };
  push_with_secrets(server.url("/"));
  EXPECT_EQ(perform(with).answered, 1);
  with.require_bound_secrets = true;
  push_with_secrets(server.url("/"));
  EXPECT_EQ(perform(with).retried, 1);
  EXPECT_EQ(server.served(), 1);
}

/// Without a binding, too.
TEST_F(SidekiqSecrets, DoNotFollowARedirectToAnotherOrigin) {
  ServedRequest stolen;
  HttpServer thief{[&](const ServedRequest& request) {
    stolen = request;
    return answer(200);
  }};
  HttpServer home{[&](const ServedRequest&) {
    return answer(307, "", fmt::format("Location: {}\r\n", thief.url("/there")));
  }};
  auto with = options();
  with.processor.secrets = [](const std::string& name) { return http::Secret{"s3cret-" + name}; };
  push_with_secrets(home.url("/"));
  EXPECT_EQ(perform(with).answered, 1);
  EXPECT_EQ(stolen.target, "/there");
  for (const auto& [name, value] : stolen.headers) EXPECT_THAT(value, Not(HasSubstr("s3cret")));
  EXPECT_FALSE(stolen.headers.contains("x-api-key"));
}

}  // namespace
}  // namespace holdfast::sidekiq
