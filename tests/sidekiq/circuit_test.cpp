// What callers hear of a host that is down, and when.

#include <set>

#include "sidekiq/sidekiq_scenario.hpp"

namespace holdfast::sidekiq {
namespace {

using test::answer;
using test::eventually;
using test::HttpServer;
using test::ServedRequest;
using testing::IsEmpty;
using testing::SizeIs;

class SidekiqCircuit : public SidekiqScenario {
 protected:
  /// What callers were told, in this order.
  std::vector<boost::json::object> told() {
    auto jobs = queue();
    std::erase_if(jobs, [](const auto& job) { return job.at("class") != callback_class; });
    return jobs;
  }
};

TEST_F(SidekiqCircuit, WaitsForAHostIfItIsToldToAndEndsWhenThatWasTriedAgain) {
  push({.id = "shows that it is down"});
  push({.id = "has to wait"});
  auto with = options();
  with.retries = 0;
  with.processor.capacity = 1;
  with.processor.breaker = {
      .failures = 1, .pause = Millis{200}, .patience = std::chrono::minutes{1}};
  auto summary = perform(with);
  EXPECT_GE(summary.given_back, 1) << "while the circuit breaker was open";
  EXPECT_EQ(summary.errors, 2) << "then it was tried again";
  EXPECT_THAT(set("schedule"), IsEmpty());
}

TEST_F(SidekiqCircuit, TellsAHundredCallersOfARefusedPortAtOnceAsTheGemDoes) {
  constexpr int many = 100;
  for (int i = 0; i < many; ++i) push({.id = std::to_string(i)});
  const auto began = std::chrono::steady_clock::now();
  auto summary = perform();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{12})
      << "a pause of the circuit breaker is 15 seconds";
  EXPECT_EQ(summary.callbacks, many);
  EXPECT_EQ(summary.given_back, 0);
  ASSERT_THAT(told(), SizeIs(many));
  std::set<std::string> ids;
  for (const auto& job : told()) {
    const auto& error = job.at("args").at(0);
    EXPECT_EQ(job.at("args").at(1), "error");
    EXPECT_EQ(error.at("class_name"), "Errno::ECONNREFUSED");
    EXPECT_EQ(error.at("error_type"), "connection");
    ids.emplace(error.at("request_id").as_string());
  }
  EXPECT_THAT(ids, SizeIs(many)) << "each once";
  EXPECT_EQ(number({"HGET", key("totals"), "errors:connection"}), many);
  expect_nothing_in_flight();
}

/// Too few failures for a circuit breaker: then its retries are how long its caller waits.
TEST_F(SidekiqCircuit, TellsTheCallerOfASingleRequestAfterItsRetries) {
  EXPECT_EQ(http::SidekiqOptions{}.retries, 3);
  push({.id = "alone"});
  auto with = options();
  with.retries = 2;
  const auto began = std::chrono::steady_clock::now();
  const auto summary = perform(with);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{60});
  EXPECT_EQ(summary.retried, 2) << "after 1 and 3 seconds";
  EXPECT_EQ(summary.errors, 3) << "each attempt";
  EXPECT_EQ(summary.callbacks, 1);
  ASSERT_THAT(told(), SizeIs(1));
}

TEST_F(SidekiqCircuit, AsksAHostAgainThatIsBack) {
  std::atomic<bool> down = true;
  HttpServer server{[&](const ServedRequest&) {
    auto reply = answer(200);
    reply.never = down;
    return reply;
  }};
  auto with = options();
  with.processor.until_empty = false;
  with.processor.request_timeout = Millis{200};
  with.processor.breaker = {.failures = 1, .pause = Millis{500}};
  Running processor{address(), with};
  push({.url = server.url(), .id = "opens it"});
  ASSERT_TRUE(eventually([&] { return told().size() == 1; }));
  push({.url = server.url(), .id = "is told at once"});
  ASSERT_TRUE(eventually([&] { return told().size() == 2; }));
  EXPECT_EQ(told()[1].at("args").at(0).at("error_type"), "timeout") << "as the last one failed";
  EXPECT_EQ(server.served(), 1);
  down = false;
  int more = 0;
  EXPECT_TRUE(eventually([&] {
    push({.url = server.url(), .id = std::to_string(more)});
    ++more;
    return eventually([&] { return std::ssize(told()) == 2 + more; }) &&
           told().back().at("args").at(1) == "response";
  }));
}

}  // namespace
}  // namespace holdfast::sidekiq
