#include "recovery/backoff.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
constexpr double middle = 0.5;

TEST(Backoff, GrowsByItsFactorUpToTheLongest) {
  Backoff backoff{.first = 1s, .factor = 3.0, .longest = 20s, .jitter = 0.2};
  EXPECT_EQ(backoff_delay(backoff, 1, middle), 1s);
  EXPECT_EQ(backoff_delay(backoff, 2, middle), 3s);
  EXPECT_EQ(backoff_delay(backoff, 3, middle), 9s);
  EXPECT_EQ(backoff_delay(backoff, 4, middle), 20s);
  EXPECT_EQ(backoff_delay(backoff, 1'000'000, middle), 20s);
}

TEST(Backoff, SpreadsByItsJitterToBothSides) {
  Backoff backoff{.first = 10s, .factor = 2.0, .longest = 1h, .jitter = 0.2};
  EXPECT_EQ(backoff_delay(backoff, 1, 0.0), 8s);
  EXPECT_EQ(backoff_delay(backoff, 1, 1.0), 12s);
  EXPECT_EQ(backoff_delay(backoff, 1, 0.75), 11s);
}

TEST(Backoff, WithoutJitterIgnoresTheDice) {
  Backoff backoff{.first = 10s, .factor = 1.0, .longest = 1h, .jitter = 0};
  EXPECT_EQ(backoff_delay(backoff, 5, 0.0), 10s);
  EXPECT_EQ(backoff_delay(backoff, 5, 0.99), 10s);
}

TEST(Backoff, IsNeverNegative) {
  EXPECT_EQ(backoff_delay({.first = 0ms}, 3, 0.0), 0ms);
  EXPECT_EQ(backoff_delay({.first = 1s, .jitter = 5.0}, 1, 0.0), 0ms);
  EXPECT_EQ(backoff_delay({.first = 1s}, 0, middle), 1s);
}

}  // namespace
}  // namespace holdfast
