#include <gmock/gmock.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "simulation/told.hpp"

namespace holdfast::sim {
namespace {

constexpr std::uint64_t histories_in_ci = 5'000;

/// `HOLDFAST_SIM_SEED=n` tells one history aloud; `HOLDFAST_SIM_HISTORIES=n` tells so many.
TEST(Simulation, KeepsEveryPromise) {
  Histories histories;
  if (auto seed = number_from("HOLDFAST_SIM_SEED")) {
    auto told = histories.tell(*seed);
    std::printf("%s", told.trace.c_str());
    EXPECT_TRUE(told.findings.empty()) << to_text(told);
    return;
  }
  auto count = number_from("HOLDFAST_SIM_HISTORIES").value_or(histories_in_ci);
  auto began = std::chrono::steady_clock::now();
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    auto told = histories.tell(seed);
    ASSERT_TRUE(told.findings.empty()) << to_text(told);
  }
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::printf("%s%llu histories in %.1f s: %.0f a second\n", histories.coverage().to_text().c_str(),
              static_cast<unsigned long long>(count), took.count(),
              static_cast<double>(count) / took.count());
  if (count < histories_in_ci) return;
  EXPECT_THAT(histories.coverage().missed(), testing::IsEmpty());
}

TEST(Simulation, TellsTheSameHistoryAgain) {
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
