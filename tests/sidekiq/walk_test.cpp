#include "engines/sidekiq/walk.hpp"

#include <gmock/gmock.h>

#include "engines/sidekiq/at_hosts.hpp"

namespace holdfast::sidekiq {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

TEST(AtHosts, WhoWaitsForAPlaceIsNotInFlight) {
  AtHosts hosts{8, 2};
  EXPECT_EQ(hosts.line(), 2);
  for (int i = 0; i < 4; ++i) hosts.came("a");
  hosts.came("b");
  hosts.came("");
  EXPECT_EQ(hosts.in_flight(), 4) << "two of a, and the others";
  EXPECT_EQ(hosts.waiting(), 2);
  EXPECT_EQ(hosts.room_to_wait(), 6);
  hosts.went("a");
  EXPECT_EQ(hosts.in_flight(), 4) << "the next has its place";
  EXPECT_EQ(hosts.waiting(), 1);
  for (int i = 0; i < 3; ++i) hosts.went("a");
  hosts.went("");
  EXPECT_EQ(hosts.in_flight(), 1);
  EXPECT_EQ(hosts.counts(), (std::map<std::string, int>{{"b", 1}}));
}

TEST(AtHosts, MoreAreWantedWhenHalfOfTheLineIsUsedUp) {
  AtHosts hosts{16, 1};
  ASSERT_EQ(hosts.line(), 4);
  for (int i = 0; i < 5; ++i) hosts.came("a");
  EXPECT_FALSE(hosts.wants_more("a"));
  hosts.went("a");
  hosts.went("a");
  EXPECT_FALSE(hosts.wants_more("a"));
  hosts.went("a");
  EXPECT_TRUE(hosts.wants_more("a"));
  // All others wait, too.
  for (const auto* host : {"b", "c", "d"})
    for (int i = 0; i < 6; ++i) hosts.came(host);
  EXPECT_EQ(hosts.room_to_wait(), 0);
  EXPECT_FALSE(hosts.wants_more("a"));
  hosts.went("a");
  hosts.went("a");
  EXPECT_TRUE(hosts.wants_more("a")) << "a place is free";
}

TEST(AtHosts, WithoutALimitNobodyWaits) {
  AtHosts hosts{8, 0};
  for (int i = 0; i < 10; ++i) hosts.came("a");
  EXPECT_EQ(hosts.in_flight(), 10);
  EXPECT_THAT(hosts.counts(), IsEmpty());
}

class WalkTest : public testing::Test {
 protected:
  void begin() {
    walk_.begin([this](const std::string& host) { return room_.contains(host); }, now_);
  }
  void step(const Walk::Step& step) {
    begin();
    walk_.stepped(step, now_);
  }

  Walk walk_;
  std::set<std::string> room_;
  Walk::Time now_ = Walk::Time{} + 1h;
};

TEST_F(WalkTest, WithNothingLeftForAHostItBeginsAnewEachTime) {
  step({.passed = 200});
  EXPECT_EQ(walk_.place(), 200);
  EXPECT_FALSE(walk_.at_end());
  step({.passed = 10, .taken = 3, .at_end = true});
  EXPECT_TRUE(walk_.at_end());
  EXPECT_FALSE(walk_.left_some());
  begin();
  EXPECT_EQ(walk_.place(), 0);
}

TEST_F(WalkTest, AHostThatWasPassedIsPassedFromThenOn) {
  step({.passed = 200, .hosts = {{"a", 0}, {"b", 7}}});
  begin();
  EXPECT_THAT(walk_.closed(), ElementsAre("a", "b"));
  EXPECT_EQ(walk_.place(), 200);
  EXPECT_TRUE(walk_.left_some());
}

TEST_F(WalkTest, StaysAtTheEndWhereNewJobsCome) {
  step({.passed = 150, .hosts = {{"a", 0}}, .at_end = true});
  now_ += 1s;
  begin();
  EXPECT_EQ(walk_.place(), 150);
  step({.taken = 5, .at_end = true});
  EXPECT_EQ(walk_.place(), 150);
}

TEST_F(WalkTest, GoesBackForAHostThatHasRoomAndOnFromWhereItWas) {
  step({.passed = 200, .hosts = {{"a", 20}, {"b", 3}}});
  step({.passed = 200, .hosts = {{"a", 0}}});
  room_ = {"a"};
  begin();
  EXPECT_EQ(walk_.place(), 20) << "where its first one is";
  EXPECT_THAT(walk_.closed(), ElementsAre("b"));
  room_ = {"a", "b"};
  step({.passed = 190, .taken = 10});
  EXPECT_EQ(walk_.place(), 210) << "there is still room";
  EXPECT_THAT(walk_.closed(), ElementsAre("b")) << "older ones of it may be behind";
  room_ = {};
  step({.passed = 50, .taken = 2, .hosts = {{"a", 5}}});
  EXPECT_EQ(walk_.place(), 388) << "twelve fewer are behind it";
  EXPECT_THAT(walk_.closed(), ElementsAre("a", "b"));
  room_ = {"a"};
  begin();
  EXPECT_EQ(walk_.place(), 215);
}

TEST_F(WalkTest, PassesOnTheWayBackWhatIsBetweenTwoHosts) {
  step({.passed = 200, .hosts = {{"a", 0}}});
  for (int i = 0; i < 50; ++i) step({.passed = 200});
  step({.passed = 200, .hosts = {{"b", 100}}});
  room_ = {"a", "b"};
  begin();
  EXPECT_EQ(walk_.place(), 0);
  step({.passed = 192, .taken = 8, .hosts = {{"a", 0}}});
  EXPECT_EQ(walk_.place(), 10'292) << "the first of b, and eight of a are gone";
  step({.taken = 8, .hosts = {{"b", 0}}});
  EXPECT_EQ(walk_.place(), 10'384);
}

TEST_F(WalkTest, ForgetsAHostOfWhichThereIsNothingLeftBehind) {
  step({.passed = 200, .hosts = {{"a", 0}, {"b", 1}}});
  room_ = {"a"};
  step({.passed = 199, .taken = 1});
  EXPECT_EQ(walk_.place(), 199);
  EXPECT_THAT(walk_.closed(), ElementsAre("b"));
  EXPECT_TRUE(walk_.left_some());
  room_ = {"b"};
  step({.passed = 3, .at_end = true});
  EXPECT_FALSE(walk_.left_some());
}

TEST_F(WalkTest, RestsFourTimesAsLongAsTheWayBackTook) {
  step({.passed = 400, .hosts = {{"a", 0}}});
  room_ = {"a"};
  step({.passed = 199, .taken = 1, .took = 10ms});
  step({.passed = 1, .hosts = {{"a", 0}}, .took = 10ms});
  EXPECT_EQ(walk_.place(), 399);
  EXPECT_EQ(walk_.rests_until(), now_ + 80ms);
  begin();
  EXPECT_EQ(walk_.place(), 399);
  now_ += 80ms;
  begin();
  EXPECT_EQ(walk_.place(), 199);
}

TEST_F(WalkTest, BeginsAnewNowAndThenBecauseOthersTakeJobsToo) {
  step({.passed = 200, .hosts = {{"a", 0}}, .took = 1s});
  step({.passed = 100, .at_end = true, .took = 1s});
  now_ += 5s;
  step({.at_end = true, .took = 1s});
  EXPECT_EQ(walk_.place(), 300);
  now_ += 3s;
  begin();
  EXPECT_EQ(walk_.place(), 0);
  EXPECT_THAT(walk_.closed(), IsEmpty());
}

}  // namespace
}  // namespace holdfast::sidekiq
