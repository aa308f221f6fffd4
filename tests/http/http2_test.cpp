#include "http/http2_server.hpp"
#include "http/processor_scenario.hpp"
#include "support/loopback.hpp"

namespace holdfast::http {
namespace {

class Http2 : public ProcessorScenario {
 protected:
  void SetUp() override { test::make_certificate(store_.folder()); }
  ProcessorOptions trusting() const {
    auto options = lenient();
    options.ca_file = certificate_;
    return options;
  }

  std::string certificate_ = store_.folder() / "ca.crt", key_ = store_.folder() / "ca.key";
};

TEST_F(Http2, OneConnectionServesABurstOfRequests) {
  constexpr int count = 40;
  test::Http2Server server{certificate_, key_, 1'000};
  for (int i = 0; i < count; ++i) client_.get(server.url(), call(std::to_string(i)));
  EXPECT_EQ(perform(trusting()).responses.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(Http2, AServerThatSaysGoodbyeInTheMiddleCostsNoRequest) {
  constexpr int count = 40, requests_each = 5;
  // Ends after the processor, which keeps connections open.
  test::Http2Server server{certificate_, key_, requests_each};
  Client client{engine_, {.persistence = {.attempts = 100, .backoff = {.first = Millis{1}}}}};
  for (int i = 0; i < count; ++i) client.get(server.url(), call(std::to_string(i)));
  auto options = trusting();
  options.breaker.failures = 0;
  auto told = perform(options);
  EXPECT_EQ(told.calls, count);
  EXPECT_EQ(told.responses.size(), static_cast<std::size_t>(count));
  for (const auto& [name, response] : told.responses) EXPECT_EQ(response.status, 200) << name;
  EXPECT_GE(server.connections(), count / requests_each) << "no connection had more than its share";
}

struct BreaksOff {
  const char* name;
  test::Http2Then then;
};

class Http2BreaksOff : public Http2, public testing::WithParamInterface<BreaksOff> {};

TEST_P(Http2BreaksOff, AfterReadingARequestThatIsNotSentAgainIfItMustNotBe) {
  std::mutex mutex;
  std::map<std::string, int> read;
  test::Http2Server server{certificate_, key_, 1'000,
                           [&](const std::string& method, const std::string& path) {
                             if (path == "/warm") return test::Http2Then::answer;
                             std::lock_guard lock{mutex};
                             ++read[method];
                             return GetParam().then;
                           }};
  auto options = trusting();
  options.until_empty = false;
  options.breaker.failures = 0;
  Processor processor{engine_, options};
  std::jthread running{[&] { processor.run(); }};
  auto ended = [&](int completed, int failed) {
    return test::eventually([&] {
      return inspector_.count({.states = {TaskState::completed}}) == completed &&
             inspector_.count({.states = {TaskState::failed}}) == failed;
    });
  };
  int warmed = 0, failed = 0;
  for (const auto method : {Method::post, Method::patch, Method::get}) {
    client_.get(server.url() + "warm");  // so that there is a connection to be used again
    ASSERT_TRUE(ended(++warmed, failed));
    const Call once{.body = method == Method::get ? "" : "once"};
    client_.enqueue(client_.build(method, server.url() + "gone", once));
    ASSERT_TRUE(ended(warmed, ++failed));
  }
  processor.stop();
  running.join();
  EXPECT_EQ(read["POST"], 1);
  EXPECT_EQ(read["PATCH"], 1);
  EXPECT_EQ(read["GET"], 1) << "idempotent, but that was its only attempt";
}

INSTANTIATE_TEST_SUITE_P(Every, Http2BreaksOff,
                         testing::Values(BreaksOff{"close", test::Http2Then::close},
                                         BreaksOff{"reset", test::Http2Then::reset},
                                         BreaksOff{"refuse", test::Http2Then::refuse},
                                         BreaksOff{"say_unread", test::Http2Then::say_unread}),
                         [](const auto& each) { return std::string{each.param.name}; });

}  // namespace
}  // namespace holdfast::http
