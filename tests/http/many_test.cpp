#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "http/processor_scenario.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;

/// A number out of /proc/self/status, such as VmHWM; kilobytes.
long memory(const std::string& name) {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;)
    if (word == name + ":") {
      long value = 0;
      status >> value;
      return value;
    }
  return 0;
}

using ManyRequests = ProcessorScenario;

/// Nobody is answered before all have asked, so that all of them are in flight at once.
TEST_F(ManyRequests, TenThousandAreInFlightAtOnceInLittleMemory) {
  constexpr int many = 10'000;
  std::atomic<int> asked = 0;
  HttpServer server{[&](const ServedRequest&) {
    auto slow = answer(200, "x");
    // Long enough for the slowest machine to have all of them asked.
    slow.after = ++asked == many ? Millis{1} : std::chrono::seconds{25};
    return slow;
  }};
  std::vector<Request> requests(many, client_.build(Method::get, server.url(), [&] {
    auto patient = call("x");
    patient.timeout = std::chrono::minutes{5};
    return patient;
  }()));
  client_.enqueue_all(requests);
  auto options = lenient();
  options.capacity = many;
  auto before = memory("VmRSS");
  auto summary = Processor{engine_, options}.run();
  auto grown = memory("VmHWM") - before;
  EXPECT_EQ(summary.answered, many);
  EXPECT_EQ(server.most_at_once(), many);
  // The server of the test is in this process, too.
  EXPECT_LT(grown, 500'000);
  RecordProperty("grown_kb", static_cast<int>(grown));
  EXPECT_EQ(inspector_.count({.states = {TaskState::pending}, .kind = "keep"}), many);
}

}  // namespace
}  // namespace holdfast::http
