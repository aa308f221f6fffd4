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

}  // namespace
}  // namespace holdfast::http
