// Requests that wait for a place at their host.

#include "documents/http_requests.hpp"
#include "http/processor_scenario.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;

class WaitingLines : public ProcessorScenario {
 protected:
  std::vector<TaskId> in_flight(int limit) const {
    std::vector<TaskId> ids;
    const auto now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
    for (const auto& request : requests_in_flight(engine_, limit, now)) ids.push_back(request.id);
    return ids;
  }
};

test::Reply waits(const ServedRequest&) {
  auto reply = answer(200, "slow");
  reply.waits = true;
  return reply;
}

TEST_F(WaitingLines, WhoWaitsForAPlaceAtAHostLeavesRoomForOtherHosts) {
  HttpServer slow{waits};
  HttpServer quick{[](const ServedRequest&) { return answer(200, "quick"); }};
  constexpr int waiting = 20;
  for (int i = 0; i < waiting; ++i) client_.get(slow.url(), call(std::to_string(i)));
  client_.get(quick.url(), call("quick"));
  auto options = lenient();
  options.per_host = 1;
  options.capacity = 4;
  std::jthread looking{[&] {
    EXPECT_TRUE(test::eventually([&] { return quick.served() == 1 && slow.served() == 1; }));
    EXPECT_TRUE(test::eventually([&] { return in_flight(50).size() == 1; }))
        << "those that wait are not in flight";
    EXPECT_EQ(in_flight(1), in_flight(50)) << "nor are they in its place";
    slow.release();
  }};
  auto told = perform(options);
  EXPECT_EQ(told.responses.size(), waiting + 1u);
  EXPECT_EQ(slow.served(), waiting);
  EXPECT_EQ(slow.most_at_once(), 1);
  EXPECT_EQ(summary_.tasks.failed_attempts, 0);
}

TEST_F(WaitingLines, WhoStandsThereForItsWholeTimeGoesBackAndIsNotCharged) {
  HttpServer slow{waits};
  Client hasty{engine_, {.timeout = Millis{200}, .persistence = {.attempts = 1}}};
  client_.get(slow.url(), call("first"));
  auto options = lenient();
  options.until_empty = false;
  options.per_host = 1;
  Processor processor{engine_, options};
  std::jthread running{[&] { processor.run(); }};
  EXPECT_TRUE(test::eventually([&] { return slow.served() == 1; }));
  auto id = hasty.get(slow.url(), call("second"));
  EXPECT_TRUE(test::eventually([&] {
    auto task = inspector_.task(id);
    return task->state == TaskState::pending && task->run_at > task->created_at;
  })) << "it waits elsewhere";
  EXPECT_EQ(inspector_.task(id)->attempt, 0);
  slow.release();
  EXPECT_TRUE(test::eventually([&] { return slow.served() == 2; }));
  processor.quiet();
  running.join();
  EXPECT_EQ(call_back().responses.size(), 2u);
}

}  // namespace
}  // namespace holdfast::http
