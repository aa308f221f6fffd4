#include <fstream>

#include <fmt/format.h>

#include "http/processor_scenario.hpp"

namespace holdfast::http {
namespace {

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
  test::Process server{{HTTP_SLOW_SERVER, std::to_string(many)}};
  ASSERT_TRUE(test::eventually([&] { return server.out().ends_with("\n"); })) << server.err();
  auto url = fmt::format("http://127.0.0.1:{}/", std::stoi(server.out()));
  std::vector<Request> requests(many, client_.build(Method::get, url, [&] {
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
  EXPECT_THAT(server.out(), testing::HasSubstr(fmt::format("{} at once", many)));
  EXPECT_LT(grown, 500'000);
  RecordProperty("grown_kb", static_cast<int>(grown));
  EXPECT_EQ(inspector_.count({.states = {TaskState::pending}, .kind = "keep"}), many);
}

}  // namespace
}  // namespace holdfast::http
