// Requests that go through a proxy.

#include <fmt/format.h>

#include "http/base64.hpp"
#include "http/connect_proxy.hpp"
#include "http/http2_server.hpp"
#include "http/processor_scenario.hpp"
#include "support/loopback.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;

class Proxies : public ProcessorScenario {
 protected:
  /// Nothing is allowed but what the proxy reaches: it was chosen, and addresses are its affair.
  static ProcessorOptions through(int port, const std::string& who = "") {
    auto options = lenient();
    options.egress.allow_private = false;
    options.proxy = fmt::format("http://{}127.0.0.1:{}", who, port);
    return options;
  }
};

TEST_F(Proxies, GetRequestsWithTheWholeUrlAndWhoAsks) {
  ServedRequest seen;
  HttpServer proxy{[&](const ServedRequest& request) {
    seen = request;
    return answer(200, "by proxy");
  }};
  client_.get("http://example.invalid/there?q=1", call("x"));
  auto told = perform(through(proxy.port(), "ada:p%40ss@"));
  EXPECT_EQ(told.responses["x"].body, "by proxy") << told.errors["x"].message;
  EXPECT_EQ(seen.target, "http://example.invalid/there?q=1");
  EXPECT_EQ(seen.headers["host"], "example.invalid");
  EXPECT_EQ(seen.headers["proxy-authorization"], "Basic " + base64("ada:p@ss"));
}

TEST_F(Proxies, AreToldNothingOfWhoAsksUnlessThatIsSaid) {
  ServedRequest seen;
  HttpServer proxy{[&](const ServedRequest& request) {
    seen = request;
    return answer(200);
  }};
  client_.get("http://example.invalid/", call("x"));
  EXPECT_EQ(perform(through(proxy.port())).responses["x"].status, 200);
  EXPECT_FALSE(seen.headers.contains("proxy-authorization"));
}

class Tunnels : public Proxies {
 protected:
  void SetUp() override { test::make_certificate(store_.folder()); }
  ProcessorOptions through_tunnel(const std::string& who) const {
    auto options = through(proxy_.port(), who);
    options.ca_file = store_.folder() / "ca.crt";
    return options;
  }

  test::ConnectProxy proxy_{"Basic " + base64("ada:p@ss")};
};

TEST_F(Tunnels, AreMadeForWhatIsEncrypted) {
  test::Http2Server server{store_.folder() / "ca.crt", store_.folder() / "ca.key", 1'000};
  client_.get(server.url(), call("x"));
  auto told = perform(through_tunnel("ada:p%40ss@"));
  EXPECT_EQ(told.responses["x"].status, 200) << told.errors["x"].message;
  EXPECT_EQ(proxy_.tunnels(), 1);
  auto host = server.url().substr(std::string_view{"https://"}.size());
  host.pop_back();
  EXPECT_THAT(proxy_.asked(),
              testing::ElementsAre(testing::StartsWith("CONNECT " + host + " HTTP/1.1\r\n")));
}

/// libcurl keeps them apart from those of the tunnel, unless CURLOPT_HEADEROPT says otherwise.
TEST_F(Tunnels, AreNotToldTheHeadersOfWhatGoesThrough) {
  test::Http2Server server{store_.folder() / "ca.crt", store_.folder() / "ca.key", 1'000};
  auto with_header = call("x");
  with_header.headers = {{"X-Api-Key", "for-the-server-only"}};
  client_.get(server.url(), with_header);
  EXPECT_EQ(perform(through_tunnel("ada:p%40ss@")).responses["x"].status, 200);
  const auto asked = proxy_.asked();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_THAT(asked[0], testing::Not(testing::HasSubstr("for-the-server-only")));
}

TEST_F(Tunnels, AreNotMadeForSomebodyElse) {
  test::Http2Server server{store_.folder() / "ca.crt", store_.folder() / "ca.key", 1'000};
  client_.get(server.url(), call("x"));
  auto told = perform(through_tunnel("ada:wrong@"));
  EXPECT_EQ(told.errors["x"].type, ErrorType::connection) << told.errors["x"].message;
  EXPECT_THAT(told.errors["x"].message, testing::HasSubstr("407"));
  EXPECT_THAT(told.errors["x"].message, testing::Not(testing::HasSubstr("wrong")));
  EXPECT_EQ(server.connections(), 0);
}

}  // namespace
}  // namespace holdfast::http
