#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <fmt/format.h>
#include <boost/json/serialize.hpp>

#include "http/misbehaviour.hpp"
#include "http/processor_scenario.hpp"
#include "support/loopback.hpp"
#include "tasks/reserved.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;
using testing::HasSubstr;

/// Takes connections, reads the first bytes of each and lets it go: a server that is being
/// restarted.
class HandshakeBreaker {
 public:
  ~HandshakeBreaker() {
    ::shutdown(listener_.socket, SHUT_RDWR);
    thread_.join();
    ::close(listener_.socket);
  }
  std::string url() const { return fmt::format("https://127.0.0.1:{}/", listener_.port); }
  int came() const { return came_; }

 private:
  void run() {
    for (int client = 0; (client = ::accept(listener_.socket, nullptr, nullptr)) >= 0;
         ::close(client)) {
      ++came_;
      char bytes[5];
      [[maybe_unused]] auto got = ::recv(client, bytes, sizeof bytes, 0);
    }
  }

  test::Listener listener_ = test::listen_on_loopback();
  std::atomic<int> came_ = 0;
  std::thread thread_{[this] { run(); }};
};

using Adversaries = ProcessorScenario;

TEST_F(Adversaries, EachGetsItsErrorAndHonestServersAreNotHeldUp) {
  const auto adversaries = misbehaviours();
  auto bomb = gzip_bomb(store_);
  int port = 0;
  HttpServer server{
      [&](const ServedRequest& request) { return misbehave(request.target, bomb, port); }};
  port = server.port();
  for (const auto& how : adversaries) {
    auto impatient = call(how);
    impatient.timeout = Millis{3'000};
    client_.get(server.url(how), impatient);
    client_.get(server.url("/honest"), call("honest beside " + how));
  }
  auto told = perform();
  for (const auto& how : adversaries) {
    ASSERT_TRUE(told.errors.contains(how)) << how;
    EXPECT_EQ(to_string(told.errors[how].type), to_string(expected_of(how)))
        << how << ": " << told.errors[how].message;
    EXPECT_EQ(told.responses["honest beside " + how].body, "honest");
  }
  EXPECT_EQ(told.calls, static_cast<int>(2 * adversaries.size()));
}

TEST_F(Adversaries, WhatComesAfterAnAnswerIsNotTakenForTheNext) {
  HttpServer server{[](const ServedRequest& request) -> test::Reply {
    return {.bytes = answer(200, request.target).bytes + answer(200, "forged").bytes};
  }};
  auto options = lenient();
  options.capacity = 1;  // one after the other, on the same connection if it were good for that
  for (const auto* path : {"/1", "/2", "/3"}) client_.get(server.url(path), call(path));
  auto told = perform(options);
  for (const auto* path : {"/1", "/2", "/3"}) EXPECT_EQ(told.responses[path].body, path);
  EXPECT_EQ(server.connections(), 3);
}

TEST_F(Adversaries, ALengthThatIsSaidTwiceAlikeIsOne) {
  HttpServer server{[](const ServedRequest&) -> test::Reply {
    return {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"};
  }};
  client_.get(server.url(), call("x"));
  EXPECT_EQ(perform().responses["x"].body, "ok");
}

/// As somebody writes it into the store who does not use a client.
TEST_F(Adversaries, HeadersThatWouldBreakARequestApartAreNotSent) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  const std::string null(1, '\0');
  int asked = 0;
  auto ask = [&](const std::string& member, const std::string& name, const std::string& value) {
    const boost::json::value request{
        {"http_method", "get"}, {"url", server.url()}, {member, {{name, value}}}};
    enqueue_own(engine_, {{request_kind, boost::json::serialize(request), {.max_attempts = 1}}});
    ++asked;
  };
  for (const auto& broken : {std::string{"a\r\nEvil: yes"}, std::string{"a\nEvil: yes"},
                             std::string{"a\rEvil: yes"}, "a" + null + "b", std::string{"a\x7f"},
                             std::string{"a\r\n\r\nGET /evil HTTP/1.1\r\n\r\n"}}) {
    ask("headers", "x-a", broken);
    ask("headers", broken, "value");
    ask("headers", "x-" + broken, "value");
    ask("secret_headers", broken, "fine");
  }
  for (const auto* name : {"", " ", "x a", "x:", ":x", "x\t", "\xc3\xa9", "content-length",
                           "Transfer-Encoding", "HOST", "Connection", "Proxy-Authorization"})
    ask("headers", name, "5");
  // The value is known to the processor only.
  for (const auto* secret : {"broken", "returned", "ended"}) ask("secret_headers", "x-a", secret);
  auto options = lenient();
  options.secrets = [&](const std::string& name) -> Secret {
    if (name == "broken") return {"a\r\nEvil: yes", bound_to(server)};
    if (name == "returned") return {"a\rEvil: yes", bound_to(server)};
    return {name == "ended" ? "a" + null : "fine", bound_to(server)};
  };
  perform(options);
  EXPECT_EQ(inspector_.count({.states = {TaskState::failed}, .kind = request_kind}), asked);
  EXPECT_EQ(server.connections(), 0);
  options.user_agent = "a\r\nEvil: yes";
  EXPECT_THROW(Processor(engine_, options), ConfigError);
}

TEST_F(Adversaries, NothingInsideIsReachedUnlessAllowed) {
  HttpServer server{[](const ServedRequest&) { return answer(200, "inside"); }};
  auto guarded = lenient();
  guarded.egress.allow_private = false;
  auto port = server.port();
  std::vector<std::string> urls{server.url(),
                                fmt::format("http://localhost:{}/", port),
                                fmt::format("http://[::ffff:127.0.0.1]:{}/", port),
                                fmt::format("http://0.0.0.0:{}/", port),
                                fmt::format("http://2130706433:{}/", port),
                                fmt::format("http://0x7f.1:{}/", port),
                                fmt::format("http://0177.0.0.1:{}/", port),
                                fmt::format("http://127.1:{}/", port),
                                "http://169.254.169.254/latest/meta-data/",
                                "http://[fd00:ec2::254]/",
                                "http://[64:ff9b::7f00:1]/"};
  for (const auto& url : urls) client_.get(url, call(url));
  auto told = perform(guarded);
  for (const auto& url : urls)
    EXPECT_EQ(told.errors[url].type, ErrorType::blocked_address)
        << url << ": " << told.errors[url].message << told.responses[url].body;
  EXPECT_EQ(server.served(), 0);

  guarded.egress.allow = {"127.0.0.0/8"};
  client_.get(server.url(), call("x"));
  EXPECT_EQ(perform(guarded).responses["x"].body, "inside");
}

TEST_F(Adversaries, AnAddressThatIsBlockedSaysNothingAboutItsHost) {
  auto guarded = lenient();
  guarded.egress.allow_private = false;
  guarded.breaker = {.failures = 3, .pause = Millis{100}};
  guarded.capacity = 1;
  for (int i = 0; i < 10; ++i) client_.get("http://127.0.0.1/", call(std::to_string(i)));
  auto told = perform(guarded);
  EXPECT_EQ(told.errors.size(), 10u);
  for (const auto& [name, error] : told.errors) EXPECT_EQ(error.type, ErrorType::blocked_address);
  EXPECT_EQ(summary_.tasks.given_back, 0) << "nobody had to wait";
}

TEST_F(Adversaries, AnAddressOfIPv6CanBeWrittenInAnyWay) {
  auto guarded = lenient();
  guarded.egress.allow_private = false;
  client_.get("http://[0:0:0:0:0:0:0:1]/", call("x"));
  EXPECT_THAT(perform(guarded).errors["x"].message, HasSubstr("loopback"));
}

TEST_F(Adversaries, AHandshakeThatIsBrokenOffIsTriedAgain) {
  HandshakeBreaker server;
  Client client{engine_, {.persistence = {.attempts = 2, .backoff = {.first = Millis{1}}}}};
  client.get(server.url(), call("x"));
  auto told = perform();
  EXPECT_EQ(told.errors["x"].type, ErrorType::connection) << told.errors["x"].message;
  EXPECT_EQ(server.came(), 2);
}

TEST_F(Adversaries, ARedirectToTheInsideIsNotFollowed) {
  HttpServer inside{[](const ServedRequest&) { return answer(200, "inside"); }};
  HttpServer outside{[&](const ServedRequest&) {
    return answer(302, "", fmt::format("Location: http://127.0.0.2:{}/\r\n", inside.port()));
  }};
  auto guarded = lenient();
  guarded.egress = {.allow_private = false, .allow = {"127.0.0.1/32"}};
  client_.get(outside.url(), call("x"));
  auto told = perform(guarded);
  EXPECT_EQ(told.errors["x"].type, ErrorType::blocked_address);
  EXPECT_THAT(told.errors["x"].message, HasSubstr("loopback"));
  EXPECT_EQ(inside.served(), 0);
}

}  // namespace
}  // namespace holdfast::http
