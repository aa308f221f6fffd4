// Names that take long to look up. Debian has no private name server that a test could start
// without being root, so the C library's own function is made slow for one name.

#include <dlfcn.h>
#include <netdb.h>

#include <future>

#include <fmt/format.h>

#include "http/processor_scenario.hpp"

namespace {

constexpr std::string_view slow_name = "slow.holdfast.invalid";

/// Lookups of that name end when it is said.
std::promise<void>& told_to_end() {
  static std::promise<void> promise;
  return promise;
}

std::shared_future<void>& end_of_lookups() {
  static std::shared_future<void> future = told_to_end().get_future();
  return future;
}

}  // namespace

extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                           addrinfo** found) {
  if (name && name == slow_name) {
    end_of_lookups().wait_for(std::chrono::seconds{60});
    return EAI_AGAIN;
  }
  static const auto real =
      reinterpret_cast<decltype(&::getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  return real(name, service, hints, found);
}

namespace holdfast::http {
namespace {

using Lookups = ProcessorScenario;

TEST_F(Lookups, OneThatHangsHoldsUpNobodyElse) {
  test::HttpServer server{[](const test::ServedRequest&) { return test::answer(200, "x"); }};
  Client hasty{engine_, {.timeout = Millis{300}, .persistence = {.attempts = 1}}};
  hasty.get("http://" + std::string{slow_name} + "/", call("slow"));
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
  told_to_end().set_value();
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

}  // namespace
}  // namespace holdfast::http
