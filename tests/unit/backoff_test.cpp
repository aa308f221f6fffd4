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

TEST(Backoff, ComesBackFromItsText) {
  Backoff backoff{.first = 1ms, .factor = 1.25, .longest = 36h, .jitter = 1e-3};
  auto read = parse_backoff(backoff_text(backoff));
  EXPECT_EQ(read.first, backoff.first);
  EXPECT_EQ(read.factor, backoff.factor);
  EXPECT_EQ(read.longest, backoff.longest);
  EXPECT_EQ(read.jitter, backoff.jitter);
}

TEST(Backoff, IsTheDefaultWhereItsTextIsNone) {
  for (const auto* text : {"", "1", "1 2 3", "1 2 3 x", "1 2 3 4 5", "a b c d", "1,2,3,4"})
    EXPECT_TRUE(is_default(parse_backoff(text))) << text;
}

TEST(Backoff, IsNeverNegative) {
  EXPECT_EQ(backoff_delay({.first = 0ms}, 3, 0.0), 0ms);
  EXPECT_EQ(backoff_delay({.first = 1s, .jitter = 5.0}, 1, 0.0), 0ms);
  EXPECT_EQ(backoff_delay({.first = 1s}, 0, middle), 1s);
}

}  // namespace
}  // namespace holdfast
