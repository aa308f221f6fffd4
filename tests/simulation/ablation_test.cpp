#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "simulation/told.hpp"

namespace holdfast::sim {
namespace {

/// This program has an engine that does not compare tokens. A simulation that does not see what
/// comes of it would see nothing.
TEST(SimulationWithoutTokens, SeesStaleWritesAccepted) {
  constexpr std::uint64_t enough = 1'000;
  Histories histories;
  for (std::uint64_t seed = 1; seed <= enough; ++seed) {
    auto told = histories.tell(seed);
    if (std::ranges::any_of(told.findings, [](const Finding& finding) {
          return finding.defect == Defect::stale_accepted;
        })) {
      std::printf("seen in history %llu\n", static_cast<unsigned long long>(seed));
      return;
    }
  }
  FAIL() << "no history showed it";
}

}  // namespace
}  // namespace holdfast::sim
