#include "sidekiq/sidekiq_scenario.hpp"

namespace holdfast::sidekiq {
namespace {

using test::answer;
using test::eventually;
using test::HttpServer;
using test::ServedRequest;
using testing::SizeIs;

/// A slow host with a limit, which answers nobody until it is released, and a quick one.
class SidekiqHost : public SidekiqScenario {
 protected:
  static constexpr int backlog = 450;  // more than one look sees

  static http::SidekiqOptions limited(http::SidekiqOptions options) {
    options.processor.capacity = 8;
    options.processor.per_host = 1;
    return options;
  }
  void push_backlog() {
    for (int i = 0; i < backlog; ++i)
      push({.url = slow_.url(fmt::format("/{}", i)), .id = fmt::format("slow {}", i)});
  }
  std::vector<std::string> in_order() {
    std::vector<std::string> targets;
    for (int i = 0; i < backlog; ++i) targets.push_back(fmt::format("/{}", i));
    return targets;
  }

  std::mutex served_mutex_;
  std::vector<std::string> served_;
  HttpServer slow_{[this](const ServedRequest& request) {
    std::lock_guard lock{served_mutex_};
    served_.push_back(request.target);
    auto reply = answer(200);
    reply.waits = true;
    return reply;
  }};
  HttpServer quick_{[](const ServedRequest&) { return answer(200); }};
};

TEST_F(SidekiqHost, ASlowOneDoesNotKeepOthersWaitingAndItsRequestsStayInOrder) {
  push_backlog();
  for (int i = 0; i < 20; ++i) push({.url = quick_.url(), .id = fmt::format("quick {}", i)});
  Running processor{address(), limited(options())};
  ASSERT_TRUE(eventually([&] { return quick_.served() == 20; }));
  push({.url = quick_.url(), .id = "late"});
  ASSERT_TRUE(eventually([&] { return number({"HGET", key("totals"), "requests"}) == 21; }));
  EXPECT_EQ(slow_.served(), 1);
  EXPECT_EQ(processor->in_flight(), 1);
  // One is sent, and two wait here; those who wait in the queue are where they were.
  EXPECT_EQ(number({"HLEN", key("holdfast:leases")}), 3);
  std::vector<std::string> left;
  for (const auto& job : queue())
    if (job.at("class") == request_class)
      left.emplace_back(job.at("args").at(0).at("url").as_string());
  ASSERT_THAT(left, SizeIs(backlog - 3));
  EXPECT_EQ(left.front(), slow_.url("/3"));
  EXPECT_EQ(left.back(), slow_.url(fmt::format("/{}", backlog - 1)));
  slow_.release();
  EXPECT_EQ(processor.join().answered, backlog + 21) << "it ends when nothing is left";
  EXPECT_EQ(served_, in_order());
  expect_nothing_in_flight();
}

TEST_F(SidekiqHost, ThoseWhoWaitForItAreNotInFlightForThoseWhoLook) {
  push_backlog();
  auto with = limited(options());
  with.processor.until_empty = false;
  Running processor{address(), with};
  http::SidekiqStatus status;
  ASSERT_TRUE(eventually(
      [&] {
        status = http::sidekiq_status(address());
        return status.processes.size() == 1 && status.processes[0].waiting == 2;
      },
      std::chrono::seconds{60}));
  EXPECT_EQ(status.processes[0].in_flight, 1);
  EXPECT_EQ(status.in_flight_count, 1);
  ASSERT_THAT(status.in_flight, SizeIs(1));
  EXPECT_EQ(status.in_flight[0].url, slow_.url("/0"));
  ASSERT_TRUE(status.in_flight[0].age);
  EXPECT_LT(*status.in_flight[0].age, std::chrono::seconds{60}) << "it was taken just now";
}

TEST_F(SidekiqHost, WhereOnlyThePayloadNamesItOthersAreServedToo) {
  for (int i = 0; i < 30; ++i) {
    auto job = job_of({.url = slow_.url(), .id = fmt::format("slow {}", i)});
    auto name = fmt::format("p{}", i);
    redis_.call(
        {"SET", "async_http_pool:payloads:" + name, boost::json::serialize(job["args"].at(0))});
    job["args"].as_array()[0] = {{"$ref", {{"store", "redis"}, {"key", name}}}};
    push_text("default", boost::json::serialize(job));
  }
  push({.url = quick_.url()});
  auto with = limited(options());
  with.processor.until_empty = false;
  Running processor{address(), with};
  EXPECT_TRUE(eventually([&] { return quick_.served() == 1; }));
  EXPECT_EQ(slow_.served(), 1);
  slow_.release();
  EXPECT_TRUE(eventually([&] { return slow_.served() == 30; }, std::chrono::seconds{60}));
}

TEST_F(SidekiqHost, TheServerIsLeftAloneWhileItIsFull) {
  push_backlog();
  auto calls = [&](const std::string& command) -> int {
    auto text = redis_.call({"INFO", "commandstats"}).string();
    auto at = text.find("cmdstat_" + command + ":calls=");
    return at == std::string::npos ? 0 : std::stoi(text.substr(text.find('=', at) + 1));
  };
  auto with = limited(options());
  with.processor.until_empty = false;
  Running processor{address(), with};
  ASSERT_TRUE(eventually([&] { return slow_.served() == 1; }));
  redis_.call({"CONFIG", "RESETSTAT"});
  // Which it asks every 400 ms, to see who lives.
  ASSERT_TRUE(eventually([&] { return calls("hgetall") >= 12; }));
  EXPECT_LT(calls("lrange"), 100);
}

}  // namespace
}  // namespace holdfast::sidekiq
