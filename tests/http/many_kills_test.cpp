#include <fstream>

#include <fmt/format.h>

#include "http/program_scenario.hpp"

namespace holdfast::http {
namespace {

/// The most memory that a process has had; kilobytes, 0: it is gone.
long most_memory(pid_t pid) {
  std::ifstream status{fmt::format("/proc/{}/status", pid)};
  for (std::string word; status >> word;)
    if (word == "VmHWM:") {
      long value = 0;
      status >> value;
      return value;
    }
  return 0;
}

class ManyRequestKills : public ProgramScenario {};

/// The server answers nobody before both processes have sent every request.
TEST_F(ManyRequestKills, OfTenThousandInFlightAnotherProcessFinishesEveryOne) {
  constexpr int many = 10'000;
  test::Process server{{HTTP_SLOW_SERVER, std::to_string(2 * many), std::to_string(many)}};
  ASSERT_TRUE(test::eventually([&] { return server.out().ends_with("\n"); })) << server.err();
  Client client{engine_, {.timeout = std::chrono::minutes{5}}};
  auto url = fmt::format("http://127.0.0.1:{}/", std::stoi(server.out()));
  client.enqueue_all(std::vector(many, client.build(Method::post, url, call("x"))));
  auto words = run_words({"--until-empty"});
  words.at(4) = std::to_string(many);
  test::Process first{command(words)};
  ASSERT_TRUE(test::eventually([&] { return server.out().find("came") != std::string::npos; },
                               std::chrono::seconds{100}))
      << first.err();
  first.kill();
  test::Process second{command(words)};
  long memory = 0;
  ASSERT_TRUE(test::eventually(
      [&] {
        memory = std::max(memory, most_memory(second.pid()));
        return !second.running();
      },
      std::chrono::seconds{200}));
  EXPECT_TRUE(second.wait()->ok()) << second.err();
  EXPECT_EQ(inspector_.count({.states = {TaskState::completed}, .kind = request_kind}), many);
  EXPECT_EQ(inspector_.count({.kind = "keep"}), many) << "callbacks";
  EXPECT_LT(memory, 500'000);
  RecordProperty("memory_kb", static_cast<int>(memory));
}

}  // namespace
}  // namespace holdfast::http
