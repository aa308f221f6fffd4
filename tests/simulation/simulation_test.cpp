#include <gmock/gmock.h>

#include <cstdio>
#include <ctime>

#include "simulation/told.hpp"

namespace holdfast::sim {
namespace {

/// All histories are told in so many parts, so that two processors can tell them.
constexpr int parts = 2;
constexpr std::uint64_t histories_in_ci = 20'000;

class Simulation : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Part, Simulation, testing::Range(0, parts));

void tell_aloud(std::uint64_t seed) {
  auto told = Histories{}.tell(seed);
  std::printf("%s", told.trace.c_str());
  EXPECT_TRUE(told.findings.empty()) << to_text(told);
}

/// `HOLDFAST_SIM_SEED=n` tells one history aloud; `HOLDFAST_SIM_HISTORIES=n` tells so many.
TEST_P(Simulation, KeepsEveryPromise) {
  if (auto seed = number_from("HOLDFAST_SIM_SEED")) {
    if (GetParam() == 0) tell_aloud(*seed);
    return;
  }
  Histories histories;
  auto all = number_from("HOLDFAST_SIM_HISTORIES").value_or(histories_in_ci);
  auto first = 1 + static_cast<std::uint64_t>(GetParam());
  std::uint64_t count = 0;
  auto began = std::clock();
  for (auto seed = first; seed <= all; seed += parts, ++count) {
    auto told = histories.tell(seed, false);
    ASSERT_TRUE(told.findings.empty()) << to_text(histories.tell(seed));
  }
  // Of this processor, because others may use it, too.
  double took = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  std::printf("%s%llu histories in %.1f s of processor time: %.0f a second\n",
              histories.coverage().to_text().c_str(), static_cast<unsigned long long>(count), took,
              static_cast<double>(count) / took);
  if (all < histories_in_ci) return;
  EXPECT_THAT(histories.coverage().missed(), testing::IsEmpty());
}

TEST(SimulationSeeds, TellTheSameHistoryAgain) {
  Histories one, other;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    auto first = one.tell(seed);
    other.tell(seed + 1'000);
    auto again = other.tell(seed);
    ASSERT_EQ(first.trace, again.trace) << "seed " << seed;
    ASSERT_EQ(first.hash, again.hash);
  }
  EXPECT_NE(one.tell(1).hash, one.tell(2).hash);
}

}  // namespace
}  // namespace holdfast::sim
