#include "documents/http_stats.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(HttpStats, PercentilesLeaveNothingOut) {
  const std::vector<double> few = {0.1, 0.2, 0.3, 0.4, 5.0};
  EXPECT_EQ(percentile(few, 0.99), 5.0);
  EXPECT_EQ(percentile(few, 0.95), 5.0);
  EXPECT_EQ(percentile(few, 0.8), 0.4);
  EXPECT_EQ(percentile(few, 0.5), 0.3);
  EXPECT_EQ(percentile(few, 0), 0.1);
  EXPECT_EQ(percentile({}, 0.5), 0);
}

}  // namespace
}  // namespace holdfast
