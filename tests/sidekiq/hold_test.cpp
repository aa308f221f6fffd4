#include "sidekiq/sidekiq_scenario.hpp"

namespace holdfast::sidekiq {
namespace {

using test::answer;
using test::eventually;
using test::HttpServer;
using test::ServedRequest;
using testing::HasSubstr;
using testing::SizeIs;

/// Requests that must not be sent twice, at a host with one place. The server answers nobody until
/// it is released.
class SidekiqHold : public SidekiqScenario {
 protected:
  static http::SidekiqOptions one_at_a_time(http::SidekiqOptions options) {
    options.processor.until_empty = false;
    options.processor.per_host = 1;
    options.heartbeat_interval = Millis{60'000};  // so that nobody else notices what it has lost
    options.on_ambiguous = http::OnAmbiguous::hold;
    return options;
  }
  void push_two() {
    for (const auto* id : {"first", "second"})
      push({.url = server_.url(), .method = "post", .body = "x", .id = id});
  }
  /// The first is sent, and the second waits for its place.
  void wait_for_the_first() {
    ASSERT_TRUE(eventually([&] {
      return server_.served() == 1 && number({"HLEN", key("holdfast:leases")}) == 2;
    }));
  }
  std::string id_of(const std::string& request) {
    for (const auto& id : texts({"HKEYS", key("holdfast:leases")}))
      if (id.ends_with("/" + request)) return id;
    return "";
  }
  std::string phase_of(const std::string& request) {
    auto lease = redis_.call({"HGET", key("holdfast:leases"), id_of(request)}).string();
    return lease.substr(lease.rfind(' ') + 1);
  }

  HttpServer server_{[](const ServedRequest&) {
    auto reply = answer(200);
    reply.waits = true;
    return reply;
  }};
};

TEST_F(SidekiqHold, IsNotedRightBeforeItIsSentAndNotWhileItWaits) {
  Running processor{address(), one_at_a_time(options())};
  push_two();
  wait_for_the_first();
  EXPECT_EQ(phase_of("first"), "sending");
  EXPECT_EQ(phase_of("second"), "taken");
  server_.release();
  EXPECT_TRUE(eventually([&] { return queue().size() == 2; }));
  expect_nothing_in_flight();
}

TEST_F(SidekiqHold, OneThatIsNotHeldAnyMoreIsNotSent) {
  Running processor{address(), one_at_a_time(options())};
  push_two();
  wait_for_the_first();
  // Somebody has taken it over, and settled it since.
  auto id = id_of("second");
  for (const auto* hash : {"inflight_jobs", "holdfast:leases", "holdfast:jobs"})
    redis_.call({"HDEL", key(hash), id});
  for (const auto* set : {"inflight_index", "holdfast:beats"}) redis_.call({"ZREM", key(set), id});
  server_.release();
  EXPECT_TRUE(eventually([&] { return processor->in_flight() == 0; }));
  EXPECT_EQ(processor.stop().refused, 1);
  EXPECT_EQ(server_.served(), 1);
}

TEST_F(SidekiqHold, OneThatCannotBeNotedGoesBackUnsent) {
  redis_.call({"ACL", "SETUSER", "moody", "on", "nopass", "~*", "+@all"});
  auto moody = fmt::format("sidekiq+redis://moody:x@127.0.0.1:{}", redis_.port());
  Running processor{moody, one_at_a_time(options())};
  push_two();
  wait_for_the_first();
  processor->rest();
  redis_.call({"ACL", "SETUSER", "moody", "-hset"});
  server_.release();
  EXPECT_TRUE(eventually([&] { return processor->in_flight() == 0; }));
  redis_.call({"ACL", "SETUSER", "moody", "+hset"});
  auto summary = processor.stop();
  EXPECT_EQ(summary.answered, 1);
  EXPECT_EQ(summary.given_back, 1);
  EXPECT_EQ(server_.served(), 1);
  EXPECT_THAT(infos_, testing::Contains(HasSubstr("1 requests go back")));
  EXPECT_EQ(queue().at(0).at("args").at(4), "second");
  expect_nothing_in_flight();
  redis_.call({"ACL", "DELUSER", "moody"});
}

TEST_F(SidekiqHold, StoppedInTheMiddleOnlyWhatWasNotSentGoesBack) {
  Running processor{address(), one_at_a_time(options())};
  push_two();
  wait_for_the_first();
  auto summary = processor.stop();
  EXPECT_EQ(summary.given_back, 1);
  EXPECT_EQ(summary.died, 1);
  auto back = queue();
  ASSERT_THAT(back, SizeIs(1));
  EXPECT_EQ(back[0].at("args").at(4), "second");
  auto dead = set("dead");
  ASSERT_THAT(dead, SizeIs(1));
  EXPECT_EQ(dead[0].at("args").at(4), "first");
  EXPECT_EQ(dead[0].at("error_class"), "Holdfast::NotSentAgain");
  expect_nothing_in_flight();
}

TEST_F(SidekiqHold, RedirectedToAHostThatIsLeftAloneItIsNotSentFromTheStartAgain) {
  HttpServer server{
      [](const ServedRequest&) { return answer(307, "", "Location: http://127.0.0.1:1/\r\n"); }};
  auto with = options();
  with.on_ambiguous = http::OnAmbiguous::hold;
  with.processor.breaker.failures = 1;
  with.processor.until_empty = false;
  with.retries = 0;
  Running processor{address(), with};
  push({.url = "http://127.0.0.1:1/", .id = "shows that it is down"});
  ASSERT_TRUE(eventually([&] { return queue().size() == 1; }));
  push({.url = server.url(), .method = "post"});
  ASSERT_TRUE(eventually([&] { return set("dead").size() == 1; }));
  EXPECT_THAT(std::string{set("dead")[0].at("error_message").as_string()},
              HasSubstr("the circuit breaker of the host it led to was open"));
  EXPECT_EQ(server.served(), 1);
  EXPECT_EQ(number({"ZCARD", "schedule"}), 0);
}

}  // namespace
}  // namespace holdfast::sidekiq
