#include "sidekiq/sidekiq_scenario.hpp"

namespace holdfast::sidekiq {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;
using testing::HasSubstr;

using SidekiqJobText = SidekiqScenario;

/// `{"a":{"a":...}}`, so many objects in each other.
boost::json::object nested(int levels) {
  boost::json::object innermost;
  for (int i = 1; i < levels; ++i) innermost = boost::json::object{{"a", std::move(innermost)}};
  return innermost;
}

TEST_F(SidekiqJobText, DeliversArgumentsThatAreNestedAsDeepAsRubyReads) {
  HttpServer server{[](const ServedRequest&) { return answer(404); }};
  auto job = job_of({.url = server.url(), .raise = true});
  job["args"].as_array()[3] = nested(96);
  push_text("default", boost::json::serialize(job));
  EXPECT_EQ(perform().callbacks, 1);
  boost::json::parse_options as_ruby;
  as_ruby.max_depth = 100;
  auto text = texts({"LRANGE", "queue:default", "0", "-1"}).at(0);
  auto told = boost::json::parse(text, {}, as_ruby);
  EXPECT_EQ(told.at("args").at(0).at("response").at("callback_args"), job["args"].at(3));
}

TEST_F(SidekiqJobText, AJobThatIsNestedDeeperThanItsCallbackMayBeKeepsAllThatItHas) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  auto job = job_of({.url = server.url()});
  job["args"].as_array()[3] = nested(97);
  job.erase("queue");
  push_text("default", boost::json::serialize(job));
  job["args"].as_array()[3] = nested(150);
  job["args"].as_array()[4] = "deeper";
  auto unreadable = boost::json::serialize(job);
  push_text("default", unreadable);
  auto summary = perform();
  EXPECT_EQ(summary.retried, 1);
  EXPECT_EQ(summary.died, 1);
  EXPECT_EQ(server.served(), 0);
  auto later = texts({"ZRANGE", "retry", "0", "-1"}).at(0);
  EXPECT_THAT(later, HasSubstr(boost::json::serialize(nested(97))));
  EXPECT_THAT(later, HasSubstr("nested deeper than 96"));
  EXPECT_THAT(later, HasSubstr("\"queue\":\"default\"")) << "where it was taken from";
  EXPECT_THAT(texts({"ZRANGE", "dead", "0", "-1"}), testing::ElementsAre(unreadable));
  EXPECT_THAT(errors_, testing::Contains(HasSubstr("nested deeper than 100")));
  expect_nothing_in_flight();
}

TEST_F(SidekiqJobText, WholeNumbersOfAnySizeComeBackAsTheyWere) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  const std::string large = "\"user_id\":123456789012345678901234567890";
  for (const auto& url : {server.url(), std::string{"ftp://a/"}}) {
    auto text = boost::json::serialize(job_of({.url = url, .id = url}));
    text.replace(text.find("\"user_id\":7"), 11, large);
    push_text("default", text);
  }
  perform();
  EXPECT_THAT(texts({"LRANGE", "queue:default", "0", "-1"}),
              testing::ElementsAre(HasSubstr(large)));
  EXPECT_THAT(texts({"ZRANGE", "retry", "0", "-1"}), testing::ElementsAre(HasSubstr(large)));
}

TEST_F(SidekiqJobText, BytesThatAreNotUtf8BreakNoDelivery) {
  std::string seen;
  HttpServer server{[&](const ServedRequest& request) {
    seen = request.body;
    return answer(200);
  }};
  auto job = job_of({.url = server.url(), .method = "post", .body = "caf\xe9"});
  job["args"].as_array()[3] = {{"name", "caf\xe9"}};
  push_text("default", boost::json::serialize(job));
  EXPECT_EQ(perform().callbacks, 1);
  EXPECT_EQ(seen, "caf\xe9");
  auto told = queue().at(0).at("args").at(0);
  EXPECT_EQ(told.at("callback_args").at("name"), "caf\xef\xbf\xbd");
}

TEST_F(SidekiqJobText, BytesThatAreNotUtf8OutlastAnotherAttempt) {
  auto job = job_of({.method = "post", .body = "caf\xe9"});
  job["retry_count"] = 1;  // then the next time is seconds away
  push_text("default", boost::json::serialize(job));
  EXPECT_EQ(perform_until_put_off(options()).retried, 1) << "nobody listens there";
  auto waiting = set("retry").at(0);
  EXPECT_EQ(waiting.at("jid"), job.at("jid"));
  EXPECT_EQ(waiting.at("args").at(0).at("body").at("value"), "Y2Fm6Q==");
  // Where they would make another request of it, they stay as they are.
  job["args"].as_array()[0].as_object()["url"] = "http://127.0.0.1:1/caf\xe9";
  push_text("default", boost::json::serialize(job));
  EXPECT_EQ(perform().died, 1);
  EXPECT_THAT(texts({"ZRANGE", "dead", "0", "-1"}),
              testing::ElementsAre(boost::json::serialize(job)));
}

TEST_F(SidekiqJobText, SaysAndCountsWhatRedisCannotRead) {
  auto text = boost::json::serialize(job_of({.body = "half"}));
  text.replace(text.find("half"), 4, "\\ud83d cut");
  push_text("default", text);
  EXPECT_EQ(perform().died, 1);
  EXPECT_THAT(texts({"ZRANGE", "dead", "0", "-1"}), testing::ElementsAre(text));
  EXPECT_THAT(errors_, testing::Contains(HasSubstr("63c1a37615da17b21f943b48 of queue default")));
}

}  // namespace
}  // namespace holdfast::sidekiq
