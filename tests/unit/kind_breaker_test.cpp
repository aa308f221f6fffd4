#include "tasks/kind_breaker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::string> kinds{"mail", "video"};

TEST(KindBreaker, AKindThatCannotBeginIsNotClaimedUntilItsPauseIsOver) {
  KindBreaker breaker;
  EXPECT_TRUE(breaker.could_not_begin("video", "no ffmpeg", Millis{100}).counts);
  EXPECT_THAT(breaker.claimable(kinds, Millis{1'099}).kinds, ElementsAre("mail"));
  auto single = breaker.claimable(kinds, Millis{1'100});
  EXPECT_TRUE(single.single);
  EXPECT_THAT(single.kinds, ElementsAre("video"));
  EXPECT_EQ(breaker.next_try(), Millis{1'100});
  EXPECT_EQ(breaker.reasons().at("video"), "no ffmpeg");
}

TEST(KindBreaker, TasksThatWereClaimedTogetherCountAsOneFailure) {
  KindBreaker breaker;
  for (int i = 0; i < 100; ++i) {
    auto opened = breaker.could_not_begin("video", "no ffmpeg", Millis{i});
    EXPECT_EQ(opened.counts, i == 0);
    EXPECT_EQ(opened.pause, Millis{1'000});
  }
}

TEST(KindBreaker, PausesGrowUpToAMinute) {
  KindBreaker breaker;
  Millis now{0}, pause{0};
  for (int i = 0; i < 10; ++i) {
    pause = breaker.could_not_begin("video", "no ffmpeg", now).pause;
    now += pause;
    breaker.tried("video", true, now);
    EXPECT_FALSE(breaker.claimable(kinds, now).single) << "one is under way";
  }
  EXPECT_EQ(pause, KindBreaker::longest_pause);
}

TEST(KindBreaker, WhereThereIsNoTaskToTryTheNextLookIsAfterAnotherPause) {
  KindBreaker breaker;
  breaker.could_not_begin("video", "no ffmpeg", Millis{0});
  breaker.tried("video", false, Millis{1'000});
  EXPECT_FALSE(breaker.claimable(kinds, Millis{1'999}).single);
  EXPECT_TRUE(breaker.claimable(kinds, Millis{2'000}).single);
}

TEST(KindBreaker, TheFirstThatBeginsClosesIt) {
  KindBreaker breaker;
  breaker.could_not_begin("video", "no ffmpeg", Millis{0});
  EXPECT_TRUE(breaker.began("video"));
  EXPECT_FALSE(breaker.began("video"));
  EXPECT_TRUE(breaker.all_fine());
  EXPECT_THAT(breaker.claimable(kinds, Millis{0}).kinds, ElementsAre("mail", "video"));
}

TEST(KindBreaker, OnlyAWorkerWithoutAnyKindThatBeginsIsHopeless) {
  KindBreaker breaker;
  breaker.could_not_begin("video", "no ffmpeg", Millis{0});
  EXPECT_FALSE(breaker.hopeless(kinds, Millis{700'000})) << "mail is fine";
  breaker.could_not_begin("mail", "no sendmail", Millis{500'000});
  EXPECT_FALSE(breaker.hopeless(kinds, Millis{700'000})) << "mail may recover";
  EXPECT_THAT(breaker.claimable({}, Millis{0}).kinds, IsEmpty());
  EXPECT_TRUE(breaker.hopeless(kinds, Millis{1'100'000}));
  breaker.tried("mail", true, Millis{1'100'000});
  EXPECT_FALSE(breaker.hopeless(kinds, Millis{1'100'000})) << "one may be running";
}

}  // namespace
}  // namespace holdfast
