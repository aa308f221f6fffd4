#include "tasks/allowance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

const WallTime now{1'700'000'000s};
constexpr Rate three_a_second{.tasks = 3, .period = 1s, .burst = 5};

Allowance allow(std::vector<Limit> limits,
                std::map<std::pair<LimitScope, std::string>, TokenBucket> buckets = {}) {
  return {std::move(limits), now,
          [buckets](LimitScope scope, const std::string& name) -> std::optional<TokenBucket> {
            auto found = buckets.find({scope, name});
            if (found == buckets.end()) return {};
            return found->second;
          }};
}

Limit running(LimitScope scope, std::string name, int most) {
  return {.scope = scope, .name = std::move(name), .max_running = most};
}

Limit rated(LimitScope scope, std::string name, Rate rate) {
  return {.scope = scope, .name = std::move(name), .max_running = {}, .rate = rate};
}

TEST(TokenBucket, RefillsEvenlyAndNeverBeyondItsCapacity) {
  TokenBucket empty{0, now};
  EXPECT_EQ(tokens_in(refilled(empty, three_a_second, now), three_a_second), 0);
  EXPECT_EQ(tokens_in(refilled(empty, three_a_second, now + 333ms), three_a_second), 0);
  EXPECT_EQ(tokens_in(refilled(empty, three_a_second, now + 334ms), three_a_second), 1);
  EXPECT_EQ(tokens_in(refilled(empty, three_a_second, now + 1s), three_a_second), 3);
  EXPECT_EQ(tokens_in(refilled(empty, three_a_second, now + 24h * 3650), three_a_second), 5);
  EXPECT_EQ(next_token(empty, three_a_second), now + 334ms);
  EXPECT_EQ(full_at(empty, three_a_second), now + 1667ms);
}

TEST(TokenBucket, LosesNothingHoweverOftenItIsLookedAt) {
  TokenBucket bucket{0, now};
  for (int i = 1; i <= 1'000; ++i) bucket = refilled(bucket, three_a_second, now + Millis{i});
  EXPECT_EQ(tokens_in(bucket, three_a_second), 3);
}

TEST(TokenBucket, AClockThatIsSetBackStopsNothing) {
  TokenBucket bucket{0, now + 1h};
  bucket = refilled(bucket, three_a_second, now);
  EXPECT_EQ(tokens_in(bucket, three_a_second), 0);
  EXPECT_EQ(tokens_in(refilled(bucket, three_a_second, now + 1s), three_a_second), 3);
}

TEST(Allowance, EveryLimitThatIsAboutATaskCounts) {
  auto allowance =
      allow({running(LimitScope::queue, "mail", 10), running(LimitScope::kind, "import", 4),
             running(LimitScope::key, "acme", 2)});
  EXPECT_TRUE(allowance.counts_running());
  EXPECT_EQ(allowance.room({"mail", "import", "acme"}, 100), 2);
  EXPECT_EQ(allowance.room({"mail", "import", "other"}, 100), 4);
  EXPECT_EQ(allowance.room({"mail", "export", ""}, 100), 10);
  EXPECT_EQ(allowance.room({"print", "export", ""}, 100), 100);
  allowance.add_running({"print", "import", "acme"}, 1);
  EXPECT_EQ(allowance.room({"mail", "import", "acme"}, 100), 1);
  EXPECT_TRUE(allowance.take({"mail", "import", "acme"}));
  EXPECT_FALSE(allowance.take({"mail", "import", "acme"}));
  EXPECT_EQ(allowance.room({"mail", "export", ""}, 100), 9) << "what is refused takes nothing";
}

TEST(Allowance, AStarIsForEachThatHasNoneOfItsOwn) {
  auto allowance = allow({running(LimitScope::key, "*", 1), running(LimitScope::key, "acme", 3)});
  EXPECT_EQ(allowance.room({"q", "k", "acme"}, 10), 3);
  EXPECT_EQ(allowance.room({"q", "k", "other"}, 10), 1);
  EXPECT_TRUE(allowance.take({"q", "k", "other"}));
  EXPECT_FALSE(allowance.take({"q", "k", "other"}));
  EXPECT_TRUE(allowance.take({"q", "k", "third"})) << "each for itself";
  EXPECT_EQ(allowance.room({"q", "k", ""}, 10), 10) << "no key, no limit of keys";
}

TEST(Allowance, TakesTokensAndSaysWhatIsLeft) {
  auto allowance = allow({rated(LimitScope::key, "*", three_a_second)},
                         {{{LimitScope::key, "acme"}, {1'500, now - 500ms}}});
  EXPECT_FALSE(allowance.counts_running());
  EXPECT_EQ(allowance.room({"q", "k", "acme"}, 10), 3);
  EXPECT_TRUE(allowance.changed().empty()) << "looking takes nothing";
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(allowance.take({"q", "k", "acme"}));
  EXPECT_FALSE(allowance.take({"q", "k", "acme"}));
  EXPECT_EQ(allowance.room_at({"q", "k", "acme"}), now + 334ms);
  ASSERT_EQ(allowance.changed().size(), 1u);
  EXPECT_EQ(allowance.changed()[0].name, "acme");
  EXPECT_EQ(allowance.changed()[0].bucket, (TokenBucket{0, now}));
}

TEST(Allowance, SaysWhenItIsWorthToAskAgain) {
  auto allowance =
      allow({running(LimitScope::queue, "full", 1), running(LimitScope::queue, "closed", 0)});
  allowance.add_running({"full", "k", ""}, 1);
  EXPECT_EQ(allowance.room_at({"full", "k", ""}), now + look_for_room_again);
  EXPECT_EQ(allowance.room_at({"closed", "k", ""}), std::nullopt);
  EXPECT_EQ(allowance.room_at({"open", "k", ""}), now);
}

}  // namespace
}  // namespace holdfast
