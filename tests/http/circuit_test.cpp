// What callers hear of a host that is down, and when.

#include <fmt/format.h>

#include "http/processor_scenario.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;
using testing::HasSubstr;

class Circuit : public ProcessorScenario {
 protected:
  using Clock = std::chrono::steady_clock;

  /// A port without a listener.
  static std::string refused() {
    const HttpServer gone{[](const ServedRequest&) { return answer(200); }};
    return gone.url();
  }
  /// `host_patience` as the caller says it.
  static Call patient(const std::string& name, std::optional<Millis> host_patience) {
    auto one = call(name);
    one.host_patience = host_patience;
    return one;
  }
  static int count(const Told& told, ErrorType type) {
    return static_cast<int>(
        std::ranges::count_if(told.errors, [&](const auto& e) { return e.second.type == type; }));
  }
  /// How often all requests together were charged an attempt.
  int charged() {
    int sum = 0;
    for (const auto& task : inspector_.tasks({.kind = request_kind}, {.limit = 1'000}))
      sum += task.attempt;
    return sum;
  }
};

TEST_F(Circuit, AHundredRequestsToARefusedPortAreAllToldWithinTheirPatience) {
  constexpr int many = 100;
  const auto url = refused();
  for (int i = 0; i < many; ++i) client_.get(url, call(std::to_string(i)));
  auto options = lenient();
  options.capacity = 10;
  options.breaker = {.failures = 10, .pause = Millis{300}, .patience = Millis{1'500}};
  const auto began = Clock::now();
  const auto told = perform(options);
  EXPECT_LT(Clock::now() - began, std::chrono::seconds{30});
  EXPECT_EQ(told.calls, many);
  EXPECT_EQ(told.errors.size(), static_cast<std::size_t>(many));
  const auto open = count(told, ErrorType::circuit_open);
  EXPECT_EQ(open + count(told, ErrorType::connection), many);
  EXPECT_GE(open, many / 2);
  for (const auto& [name, error] : told.errors) {
    if (error.type != ErrorType::circuit_open) continue;
    EXPECT_THAT(error.message, HasSubstr("circuit breaker is open after 1"));
    EXPECT_THAT(error.message, HasSubstr("the last one: Connection refused"));
    EXPECT_EQ(error.duration, 0);
  }
  EXPECT_EQ(charged(), many) << "for the attempt that ended each, and not for waiting";
}

TEST_F(Circuit, ARequestThatHasNoPatienceIsToldAtOnceAndOneThatHasMoreWaits) {
  const auto url = refused();
  for (int i = 0; i < 3; ++i) client_.get(url, call(std::to_string(i)));
  client_.get(url, patient("impatient", Millis{0}));
  client_.get(url, patient("patient", std::chrono::hours{1}));
  auto options = lenient();
  options.capacity = 1;
  options.until_empty = false;
  options.breaker = {.failures = 3, .pause = std::chrono::hours{1}};
  Processor processor{engine_, options};
  std::jthread running{[&] { processor.run(); }};
  EXPECT_TRUE(test::eventually([&] {
    return inspector_.count({.states = {TaskState::completed}, .kind = request_kind}) == 4 &&
           inspector_.count({.states = {TaskState::pending}, .kind = request_kind}) == 1;
  }));
  processor.stop();
  running.join();
  const auto told = call_back();
  EXPECT_EQ(told.errors.at("impatient").type, ErrorType::circuit_open);
  EXPECT_FALSE(told.errors.contains("patient"));
}

TEST_F(Circuit, WhoWaitedInOneProcessorIsToldByTheNextWithinItsPatience) {
  constexpr int many = 10, failures = 3;
  const auto url = refused();
  for (int i = 0; i < many; ++i) client_.get(url, call(std::to_string(i)));
  auto options = lenient();
  options.capacity = 1;
  options.until_empty = false;
  // Who is not sent during a pause comes again when it ends, whichever processor that is at.
  options.breaker = {
      .failures = failures, .pause = Millis{1'000}, .patience = std::chrono::hours{1}};
  std::int64_t sent = 0;
  {
    Processor processor{engine_, options};
    std::jthread running{[&] { processor.run(); }};
    EXPECT_TRUE(test::eventually([&] {
      sent = inspector_.count({.states = {TaskState::completed}, .kind = request_kind});
      return sent >= failures;
    }));
    processor.stop();
  }
  sent = inspector_.count({.states = {TaskState::completed}, .kind = request_kind});
  EXPECT_EQ(inspector_.count({.states = {TaskState::pending}, .kind = request_kind}), many - sent);
  ASSERT_LT(sent, many - failures) << "otherwise the next has nothing to do";
  options.until_empty = true;
  options.breaker.patience = Millis{500};
  const auto told = perform(options);
  EXPECT_EQ(told.errors.size(), static_cast<std::size_t>(many));
  EXPECT_GE(count(told, ErrorType::circuit_open), 1);
  EXPECT_GE(count(told, ErrorType::connection), sent + failures) << "what opened it in each";
  EXPECT_EQ(charged(), many) << "no wait was charged";
}

TEST_F(Circuit, OneRequestShowsThatAHostIsBackAndTheOthersAreSent) {
  constexpr int many = 20;
  std::atomic<bool> down = true;
  HttpServer server{[&](const ServedRequest&) {
    auto reply = answer(200, "back");
    reply.never = down;
    return reply;
  }};
  Client client{engine_, {.timeout = Millis{200}, .persistence = {.attempts = 10}}};
  for (int i = 0; i < many; ++i) client.get(server.url(), call(std::to_string(i)));
  auto options = lenient();
  options.capacity = 2;
  options.breaker = {.failures = 2, .pause = Millis{200}, .patience = std::chrono::hours{1}};
  std::jthread later{[&] {
    EXPECT_TRUE(test::eventually([&] { return server.served() >= 4; })) << "two, and two probes";
    down = false;
  }};
  const auto told = perform(options);
  EXPECT_EQ(told.responses.size(), static_cast<std::size_t>(many));
  EXPECT_LE(charged(), many + 10) << "one at a time while the circuit breaker was open";
}

TEST_F(Circuit, OneThatWasOpenLongAgoLetsRequestsWaitUntilTheHostHasShownHowItIs) {
  constexpr int many = 60;
  std::atomic<bool> down = true;
  HttpServer server{[&](const ServedRequest&) {
    auto reply = answer(200);
    reply.never = down;
    return reply;
  }};
  Client client{engine_, {.timeout = Millis{200}, .persistence = {.attempts = 1}}};
  auto options = lenient();
  options.until_empty = false;
  options.breaker = {.failures = 1, .pause = Millis{200}, .patience = Millis{0}};
  Processor processor{engine_, options};
  std::jthread running{[&] { processor.run(); }};
  client.get(server.url(), call("opens it"));
  auto completed = [&](int count) {
    return test::eventually([&] {
      return inspector_.count({.states = {TaskState::completed}, .kind = request_kind}) == count;
    });
  };
  EXPECT_TRUE(completed(1));
  down = false;
  const auto later = Clock::now() + std::chrono::milliseconds{300};
  EXPECT_TRUE(test::eventually([&] { return Clock::now() > later; }));
  std::vector<Request> requests;
  for (int i = 0; i < many; ++i)
    requests.push_back(client.build(Method::get, server.url(), call(std::to_string(i))));
  client.enqueue_all(requests);
  EXPECT_TRUE(completed(1 + many));
  processor.stop();
  running.join();
  EXPECT_EQ(call_back().responses.size(), static_cast<std::size_t>(many));
}

TEST_F(Circuit, APostThatWasRedirectedToAHostThatIsDownIsHeldIfItMustNotBeSentTwice) {
  const auto down = refused();
  HttpServer server{
      [&](const ServedRequest&) { return answer(303, "", fmt::format("Location: {}\r\n", down)); }};
  client_.get(down, call("opens it"));
  auto once = call("x");
  once.on_ambiguous = OnAmbiguous::hold;
  const auto id = client_.post(server.url(), once);
  auto options = lenient();
  options.capacity = 1;
  options.breaker = {.failures = 1, .pause = std::chrono::hours{1}, .patience = Millis{0}};
  perform(options);
  EXPECT_EQ(inspector_.task(id)->state, TaskState::held);
  EXPECT_THAT(inspector_.task(id)->cause, HasSubstr("circuit breaker is open"));
  EXPECT_EQ(server.served(), 1);
}

}  // namespace
}  // namespace holdfast::http
