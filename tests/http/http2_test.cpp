#include "http/http2_server.hpp"
#include "http/processor_scenario.hpp"

namespace holdfast::http {
namespace {

using Http2 = ProcessorScenario;

TEST_F(Http2, AServerThatSaysGoodbyeInTheMiddleCostsNoRequest) {
  constexpr int count = 40, requests_each = 5;
  std::string certificate = store_.folder() / "cert.pem", key = store_.folder() / "key.pem";
  auto made = test::run({"/usr/bin/openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
                         "-keyout", key, "-out", certificate, "-days", "2", "-subj",
                         "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"});
  ASSERT_TRUE(made.ending.ok()) << made.err;
  // Ends after the processor, which keeps connections open.
  test::Http2Server server{certificate, key, requests_each};
  Client client{engine_, {.persistence = {.attempts = 100, .backoff = {.first = Millis{1}}}}};
  for (int i = 0; i < count; ++i) client.get(server.url(), call(std::to_string(i)));
  auto options = lenient();
  options.ca_file = certificate;
  options.breaker.failures = 0;
  auto told = perform(options);
  EXPECT_EQ(told.calls, count);
  EXPECT_EQ(told.responses.size(), static_cast<std::size_t>(count));
  for (const auto& [name, response] : told.responses) EXPECT_EQ(response.status, 200) << name;
  EXPECT_GE(server.connections(), count / requests_each) << "no connection had more than its share";
}

}  // namespace
}  // namespace holdfast::http
