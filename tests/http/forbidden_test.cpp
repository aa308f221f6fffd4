// Places that nobody outside may make a processor connect to, really asked for.

#include <fmt/format.h>
#include <boost/json/serialize.hpp>

#include "http/forbidden_places.hpp"
#include "http/processor_scenario.hpp"
#include "http/resolver.hpp"
#include "tasks/reserved.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;

/// One server inside, which may be asked by one name only; then it leads to another place.
class Forbidden : public ProcessorScenario {
 protected:
  void SetUp() override {
    resolver_.forget();
    resolver_.say(outside_name, {"127.0.0.1"});
    resolver_.say("localhost.", {"127.0.0.1"});
  }
  void TearDown() override { resolver_.forget(); }

  static ProcessorOptions guarded() {
    auto options = lenient();
    options.egress = {.allow_private = false, .allow = {outside_name}};
    options.connect_timeout = Millis{1'000};
    options.breaker.failures = 0;
    return options;
  }
  /// As somebody writes it into the store who asks no client whether that is a URL.
  void enqueue(const std::string& url, const std::string& name) {
    const boost::json::value request{
        {"http_method", "get"}, {"url", url}, {"callback", "keep"}, {"context", name}};
    enqueue_own(engine_, {{request_kind, boost::json::serialize(request), {.max_attempts = 1}}});
  }
  static bool is_refused_by_clients(const std::string& url) {
    try {
      validate(Request{.url = url});
      return false;
    } catch (const InvalidRequest&) {
      return true;
    }
  }

  void expect_nobody_gets_there() {
    std::int64_t unfit = 0;
    for (const auto& url : places_) {
      enqueue(url, url);
      unfit += is_refused_by_clients(url) ? 1 : 0;
    }
    auto told = perform(guarded());
    for (const auto& url : places_) {
      if (is_refused_by_clients(url)) continue;
      EXPECT_EQ(to_string(told.errors[url].type), to_string(ErrorType::blocked_address))
          << url << ": " << told.errors[url].message << told.responses[url].body;
    }
    EXPECT_EQ(inspector_.count({.states = {TaskState::failed}, .kind = request_kind}), unfit);
    EXPECT_EQ(told.calls, std::ssize(places_) - unfit);
    EXPECT_EQ(server_.connections() + six_.connections(), 0);
  }
  void expect_nobody_is_led_there() {
    for (std::size_t i = 0; i < places_.size(); ++i)
      client_.get(fmt::format("http://{}:{}/{}", outside_name, server_.port(), i),
                  call(places_[i]));
    auto told = perform(guarded());
    for (const auto& url : places_) {
      const auto type = told.errors[url].type;
      const bool unreadable = type == ErrorType::unknown && is_refused_by_clients(url);
      EXPECT_TRUE(type == ErrorType::blocked_address || unreadable)
          << url << ": " << to_string(type) << ", " << told.errors[url].message
          << told.responses[url].body;
    }
    EXPECT_EQ(told.errors.size(), places_.size());
    EXPECT_EQ(server_.served(), std::ssize(places_)) << "and not by a connection that was there";
    EXPECT_EQ(six_.connections(), 0);
  }

  static constexpr const char* outside_name = "outside.invalid";
  std::vector<std::string> places_{};
  HttpServer server_{[this](const ServedRequest& request) {
    const auto number = static_cast<std::size_t>(std::atoi(request.target.c_str() + 1));
    return answer(302, "inside", fmt::format("Location: {}\r\n", places_.at(number)));
  }};
  HttpServer six_{[](const ServedRequest&) { return answer(200, "inside"); }, HttpServer::At::ipv6};
  test::Resolver& resolver_ = test::Resolver::instance();
};

/// Every address, and for IPv4 in whatever form IPv6 has for it.
class ForbiddenAddresses : public Forbidden {
 protected:
  std::vector<std::string> addresses() const {
    auto all = test::forbidden_addresses();
    for (const auto& range : test::forbidden_ranges()) {
      if (range.inner.find(':') != std::string::npos) continue;
      const auto carriers = test::carriers_of(range.inner);
      all.insert(all.end(), carriers.begin(), carriers.end());
      all.push_back("::ffff:" + range.inner);
    }
    EXPECT_GE(all.size(), 150u);
    return all;
  }
  void SetUp() override {
    Forbidden::SetUp();
    for (const auto& address : addresses())
      places_.push_back(test::url_of(address, address == "::1" ? six_.port() : server_.port()));
  }
};

TEST_F(ForbiddenAddresses, AreNotConnectedTo) { expect_nobody_gets_there(); }

TEST_F(ForbiddenAddresses, AreNotConnectedToByARedirect) { expect_nobody_is_led_there(); }

TEST_F(ForbiddenAddresses, AreNotConnectedToByAName) {
  places_.clear();
  for (const auto& address : addresses()) {
    const auto name = fmt::format("name-{}.invalid", places_.size());
    resolver_.say(name, {address});
    places_.push_back(test::url_of(name, server_.port()));
  }
  expect_nobody_gets_there();
  EXPECT_EQ(resolver_.lookups(), std::ssize(places_));
}

class ForbiddenSpellings : public Forbidden {
 protected:
  void SetUp() override {
    Forbidden::SetUp();
    places_ = test::odd_spellings(server_.port());
  }
};

TEST_F(ForbiddenSpellings, AreNotConnectedTo) { expect_nobody_gets_there(); }

TEST_F(ForbiddenSpellings, AreNotConnectedToByARedirect) { expect_nobody_is_led_there(); }

}  // namespace
}  // namespace holdfast::http
