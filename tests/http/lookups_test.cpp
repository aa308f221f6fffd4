// Names that take long to look up, or lead where nobody may go.

#include <fmt/format.h>

#include "http/processor_scenario.hpp"
#include "http/resolver.hpp"

namespace holdfast::http {
namespace {

using Lookups = ProcessorScenario;

TEST_F(Lookups, OneThatHangsHoldsUpNobodyElse) {
  test::HttpServer server{[](const test::ServedRequest&) { return test::answer(200, "x"); }};
  Client hasty{engine_, {.timeout = Millis{300}, .persistence = {.attempts = 1}}};
  hasty.get("http://" + std::string{test::slow_name} + "/", call("slow"));
  auto options = lenient();
  options.until_empty = false;
  Processor processor{engine_, options};
  std::jthread running{[&] { processor.run(); }};
  // Its time is over, and nobody waits for the lookup.
  EXPECT_TRUE(
      test::eventually([&] { return inspector_.count({.states = {TaskState::completed}}) > 0; }));
  for (int i = 0; i < 3; ++i) client_.get(server.url(), call(std::to_string(i)));
  EXPECT_TRUE(test::eventually([&] { return server.served() == 3; }));
  processor.quiet();
  running.join();
  test::end_lookups();
  auto told = call_back();
  EXPECT_EQ(told.errors["slow"].type, ErrorType::timeout) << told.errors["slow"].message;
  EXPECT_EQ(told.responses.size(), 3u);
}

TEST_F(Lookups, NobodyWaitsForANameThatIsNotLookedUp) {
  test::HttpServer server{[](const test::ServedRequest& request) {
    auto reply = test::answer(200, "x");
    reply.waits = request.target == "/slow";
    return reply;
  }};
  auto url = fmt::format("http://localhost:{}/", server.port());
  auto options = lenient();
  options.until_empty = false;
  options.dns_cache = Millis{1};
  Processor processor{engine_, options};
  std::jthread running{[&] { processor.run(); }};
  client_.get(url + "first", call("first"));
  EXPECT_TRUE(test::eventually([&] { return server.served() == 1; }));
  // Its connection is used again, so nobody looks the name up, although it is not known any more.
  EXPECT_TRUE(test::eventually([&] { return processor.in_flight() == 0; }));
  client_.get(url + "slow", call("slow"));
  EXPECT_TRUE(test::eventually([&] { return server.served() == 2; }));
  client_.get(url + "quick", call("quick"));
  EXPECT_TRUE(test::eventually([&] { return server.served() == 3; }))
      << "it waits for the slow one";
  server.release();
  processor.quiet();
  running.join();
  EXPECT_EQ(call_back().responses.size(), 3u);
}

/// Of names that the test's own resolver knows.
class Names : public ProcessorScenario {
 protected:
  void SetUp() override { resolver_.forget(); }
  void TearDown() override { resolver_.forget(); }
  std::string at(const std::string& name, const std::string& path = "/") const {
    return fmt::format("http://{}:{}{}", name, server_.port(), path);
  }
  static ProcessorOptions guarded() {
    auto options = lenient();
    options.egress = {.allow_private = false, .allow = {"127.0.0.1/32"}};
    options.dns_cache = Millis{0};
    return options;
  }

  /// Keeps no connection, so that each request needs an address.
  test::HttpServer server_{[](const test::ServedRequest& request) {
    auto reply = request.target == "/moved"
                     ? test::answer(302, "", "Location: /\r\nConnection: close\r\n")
                     : test::answer(200, "inside", "Connection: close\r\n");
    reply.then = test::Reply::Then::close;
    return reply;
  }};
  test::Resolver& resolver_ = test::Resolver::instance();
};

TEST_F(Names, ThatLeadInsideAreNotFollowed) {
  auto options = guarded();
  options.egress.allow.clear();
  const std::map<std::string, std::string> places{{"four.invalid", "127.0.0.1"},
                                                  {"six.invalid", "::1"},
                                                  {"mapped.invalid", "::ffff:127.0.0.1"},
                                                  {"home.invalid", "192.168.0.1"},
                                                  {"cloud.invalid", "169.254.169.254"}};
  for (const auto& [name, address] : places) {
    resolver_.say(name, {address});
    client_.get(at(name), call(name));
  }
  auto told = perform(options);
  for (const auto& [name, address] : places)
    EXPECT_EQ(told.errors[name].type, ErrorType::blocked_address)
        << name << ": " << told.errors[name].message;
  EXPECT_EQ(resolver_.lookups(), std::ssize(places));
  EXPECT_EQ(server_.connections(), 0);
}

TEST_F(Names, ThatLeadInsideTheSecondTimeAreNotFollowedThen) {
  resolver_.say("rebinding.invalid", {"127.0.0.1", "127.0.0.2"});
  client_.get(at("rebinding.invalid"), call("first"));
  EXPECT_EQ(perform(guarded()).responses["first"].body, "inside");
  client_.get(at("rebinding.invalid"), call("second"));
  auto told = perform(guarded());
  EXPECT_EQ(told.errors["second"].type, ErrorType::blocked_address)
      << told.errors["second"].message;
  // The same between the hops of one request.
  resolver_.say("rebinding.invalid", {"127.0.0.1", "127.0.0.2"});
  client_.get(at("rebinding.invalid", "/moved"), call("moved"));
  told = perform(guarded());
  EXPECT_EQ(told.errors["moved"].type, ErrorType::blocked_address) << told.errors["moved"].message;
  EXPECT_EQ(resolver_.lookups(), 4);
}

TEST_F(Names, ThatAreNotAllowedDoNotUseTheConnectionOfOneThatIs) {
  test::HttpServer inside{[](const test::ServedRequest&) { return test::answer(200, "inside"); }};
  resolver_.say("allowed.invalid", {"127.0.0.1"});
  resolver_.say("other.invalid", {"127.0.0.1"});
  auto options = guarded();
  options.egress.allow = {"allowed.invalid"};
  options.capacity = 1;  // one after the other
  for (const auto* name : {"allowed.invalid", "other.invalid"})
    client_.get(fmt::format("http://{}:{}/", name, inside.port()), call(name));
  auto told = perform(options);
  EXPECT_EQ(told.responses["allowed.invalid"].body, "inside");
  EXPECT_EQ(told.errors["other.invalid"].type, ErrorType::blocked_address);
  EXPECT_EQ(inside.served(), 1);
}

TEST_F(Names, AreKeptAsLongAsIsSaid) {
  resolver_.say("kept.invalid", {"127.0.0.1"});
  for (const auto cache : {Millis{60'000}, Millis{0}}) {
    auto options = guarded();
    options.dns_cache = cache;
    options.capacity = 1;  // one after the other
    const int before = resolver_.lookups();
    for (int i = 0; i < 3; ++i) client_.get(at("kept.invalid"), call(std::to_string(i)));
    EXPECT_EQ(perform(options).responses.size(), 3u);
    EXPECT_EQ(resolver_.lookups() - before, cache > Millis{0} ? 1 : 3);
  }
}

}  // namespace
}  // namespace holdfast::http
