// Servers whose certificates or versions of TLS are no good.

#include <openssl/ssl.h>

#include <fmt/format.h>

#include "http/processor_scenario.hpp"
#include "http/tls_server.hpp"

namespace holdfast::http {
namespace {

using test::TlsServer;
using testing::HasSubstr;

constexpr std::chrono::hours hour{1};

class Tls : public ProcessorScenario {
 protected:
  /// Trusts the certificates of these servers.
  ProcessorOptions trusting(const std::vector<const TlsServer*>& servers) const {
    auto options = lenient();
    options.ca_file = store_.folder() / "trusted.pem";
    for (const auto* server : servers) server->trusted_by(options.ca_file);
    return options;
  }
  /// The request would be tried again if that could help.
  void expect_refusal(const TlsServer& bad, bool is_trusted, const std::string& why) {
    const TlsServer good{{}};
    auto options = trusting({&good});
    if (is_trusted) bad.trusted_by(options.ca_file);
    Client client{engine_,
                  {.headers = {{"authorization", "secret"}},
                   .persistence = {.attempts = 3, .backoff = {.first = Millis{1}}}}};
    client.post(bad.url(), call("bad"));
    client.get(good.url(), call("good"));
    auto told = perform(options);
    EXPECT_EQ(told.errors["bad"].type, ErrorType::ssl);
    EXPECT_THAT(told.errors["bad"].message, HasSubstr(why));
    EXPECT_EQ(told.responses["good"].body, "good") << told.errors["good"].message;
    EXPECT_EQ(told.calls, 2);
    EXPECT_EQ(bad.connections(), 1) << "it does not get better";
    EXPECT_EQ(bad.served(), 0) << "and what was to be sent is secret";
  }
};

TEST_F(Tls, ACertificateThatNobodyTrustsIsAnError) {
  expect_refusal(TlsServer{{}}, false, "self-signed certificate");
}

TEST_F(Tls, ACertificateThatHasExpiredIsAnError) {
  expect_refusal(TlsServer{{.certificate = {.from = -2 * hour, .until = -hour}}}, true,
                 "certificate has expired");
}

TEST_F(Tls, ACertificateThatIsNotYetValidIsAnError) {
  expect_refusal(TlsServer{{.certificate = {.from = hour, .until = 2 * hour}}}, true,
                 "certificate is not yet valid");
}

TEST_F(Tls, TheCertificateOfAnotherHostIsAnError) {
  for (const auto* other : {"IP:127.0.0.2", "DNS:localhost", "DNS:127.0.0.1", "DNS:*"})
    expect_refusal(TlsServer{{.certificate = {.of = other}}}, true, "127.0.0.1");
}

TEST_F(Tls, OneThatIsTrustedIsFineForItsOwnNameOnly) {
  const TlsServer server{{.certificate = {.of = "DNS:localhost"}}};
  client_.get(fmt::format("https://localhost:{}/", server.port()), call("name"));
  client_.get(server.url(), call("address"));
  auto told = perform(trusting({&server}));
  EXPECT_EQ(told.responses["name"].body, "good") << told.errors["name"].message;
  EXPECT_EQ(told.errors["address"].type, ErrorType::ssl);
}

TEST_F(Tls, ItIsTheSameForAProxy) {
  const TlsServer proxy{{}};
  auto options = lenient();
  options.proxy = fmt::format("https://127.0.0.1:{}", proxy.port());
  client_.get("http://example.invalid/", call("nobody"));
  EXPECT_EQ(perform(options).errors["nobody"].type, ErrorType::ssl);
  options.ca_file = trusting({&proxy}).ca_file;
  client_.get("http://example.invalid/", call("trusted"));
  auto told = perform(options);
  EXPECT_EQ(told.responses["trusted"].status, 200) << told.errors["trusted"].message;
}

TEST_F(Tls, VersionsThatAreTooOldAreAnError) {
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION})
    expect_refusal(TlsServer{{.newest_version = version}}, true, "protocol");
  const TlsServer old_enough{{.newest_version = TLS1_2_VERSION}};
  client_.get(old_enough.url(), call("x"));
  auto told = perform(trusting({&old_enough}));
  EXPECT_EQ(told.responses["x"].body, "good") << told.errors["x"].message;
}

TEST_F(Tls, AServerThatOnlySpeaksOldVersionsIsThereAllTheSame) {
  const TlsServer server{{.newest_version = TLS1_VERSION}};
  auto options = trusting({&server});
  options.breaker = {.failures = 3, .pause = Millis{100}};
  options.capacity = 1;
  for (int i = 0; i < 10; ++i) client_.get(server.url(), call(std::to_string(i)));
  auto told = perform(options);
  EXPECT_EQ(told.errors.size(), 10u);
  for (const auto& [name, error] : told.errors) EXPECT_EQ(error.type, ErrorType::ssl);
  EXPECT_EQ(summary_.tasks.given_back, 0) << "nobody had to wait";
}

TEST_F(Tls, AServerThatIsGoneInTheMiddleOfARequestEndsNobodyElse) {
  const TlsServer bad{{.resets = true}}, good{{}};
  constexpr int count = 20;
  for (int i = 0; i < count; ++i) {
    auto large = call("bad" + std::to_string(i));
    large.body = std::string(700'000, 'x');
    client_.post(bad.url(), large);
    client_.get(good.url(), call("good" + std::to_string(i)));
  }
  auto told = perform(trusting({&bad, &good}));
  EXPECT_EQ(told.responses.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(told.errors.size(), static_cast<std::size_t>(count));
  for (const auto& [name, error] : told.errors)
    EXPECT_EQ(error.type, ErrorType::connection) << name << ": " << error.message;
}

TEST_F(Tls, NobodyIsLedToWhereThereIsNone) {
  test::HttpServer plain{[](const test::ServedRequest&) { return test::answer(200, "plain"); }};
  const TlsServer server{
      {.reply = fmt::format("HTTP/1.1 307 Text\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n",
                            plain.url())}};
  client_.post(server.url(), call("x"));
  auto told = perform(trusting({&server}));
  EXPECT_EQ(told.errors["x"].type, ErrorType::blocked_address);
  EXPECT_THAT(told.errors["x"].message, HasSubstr("from https to http://"));
  EXPECT_EQ(server.served(), 1);
  EXPECT_EQ(plain.connections(), 0);
}

}  // namespace
}  // namespace holdfast::http
