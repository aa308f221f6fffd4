#include "tasks/session.hpp"

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""h;

Claimed claim(bool suspect = false) {
  Claimed claimed;
  claimed.lease = {TaskId::make(), Token{1}};
  claimed.kind = "a";
  claimed.timeout = 1h;
  claimed.suspect = suspect;
  return claimed;
}

class SessionTest : public testing::Test {
 protected:
  void finish(const JobPtr& job) {
    session_.finished(job, {}, 1ms);
    session_.handler_free();
  }

  Session session_{{.concurrency = 2, .prefetch = 10, .lease = 90min, .stop_grace = 10s}};
};

TEST_F(SessionTest, NothingIsClaimedBesideASuspect) {
  session_.took({claim(true)}, 0ms);
  EXPECT_EQ(session_.suspect_room(0ms), 0);
  auto started = session_.start(0ms);
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(session_.room(), 0);
  EXPECT_EQ(session_.suspect_room(0ms), 0);
  finish(started.front());
  EXPECT_GT(session_.room(), 0);
  EXPECT_EQ(session_.suspect_room(0ms), 1);
}

TEST_F(SessionTest, IsSuppliedForAsLongAsHandlersNeedForWhatWaits) {
  EXPECT_FALSE(session_.supplied_for(0ms)) << "nothing runs";
  session_.took({claim(), claim(), claim(), claim(), claim()}, 0ms);
  auto started = session_.start(0ms);
  // Handlers take 100 ms at first: two of them start what waits within 200 ms.
  EXPECT_TRUE(session_.supplied_for(200ms));
  EXPECT_FALSE(session_.supplied_for(300ms));
  finish(started.front());
  EXPECT_FALSE(session_.supplied_for(0ms)) << "nothing is left that could come to its end";
}

TEST_F(SessionTest, WhatWaitsForASuspectIsLeftToOthersWhenThatTakesLong) {
  session_.took({claim(true), claim(), claim()}, 0ms);
  session_.start(0ms);
  EXPECT_EQ(session_.due(50ms).next, 100ms);
  EXPECT_FALSE(session_.anything_to_settle());
  session_.due(100ms);
  EXPECT_EQ(session_.settlements().size(), 2u);
}

TEST_F(SessionTest, SuspectThatDoesNotStopIsNotWaitedForAnyMore) {
  auto suspect = claim(true);
  suspect.timeout = 1s;
  session_.took({suspect}, 0ms);
  session_.start(0ms);
  EXPECT_EQ(session_.due(1s).stop.size(), 1u);
  EXPECT_EQ(session_.due(11s).give_up.size(), 1u);
  session_.took({claim()}, 11s);
  EXPECT_TRUE(session_.startable());
  session_.took({claim(true)}, 11s);
  session_.start(11s);
  EXPECT_FALSE(session_.startable()) << "another suspect is not alone beside it";
}

TEST_F(SessionTest, SuspectThatCannotBeAloneIsLeftToOthersAndAskedForAgainLater) {
  session_.took({claim(), claim(true), claim()}, 0ms);
  session_.start(0ms);
  EXPECT_TRUE(session_.suspect_in_the_way());
  EXPECT_EQ(session_.due(0ms).next, 1s);
  session_.due(1s);
  auto given_back = session_.settlements();
  ASSERT_EQ(given_back.size(), 1u);
  EXPECT_TRUE(session_.startable()) << "it was in the way of this one";
  EXPECT_EQ(session_.suspect_room(1'999ms), 0);
  EXPECT_EQ(session_.suspect_room(2s), 1);
}

TEST_F(SessionTest, SuspectIsWaitedForLongerEachTime) {
  session_.took({claim()}, 0ms);
  session_.start(0ms);
  auto now = 0ms;
  for (auto patience : {1s, 2s, 4s, 8s}) {
    session_.took({claim(true)}, now);
    EXPECT_EQ(session_.due(now).next, now + patience);
    now += patience;
    session_.due(now);
    EXPECT_EQ(session_.settlements().size(), 1u);
  }
}

TEST_F(SessionTest, WhoIdlesIsNotInTheWayOfASuspectAndASuspectThatIdlesOfNobody) {
  session_.took({claim(), claim(true)}, 0ms);
  auto first = session_.start(0ms).front();
  EXPECT_FALSE(session_.startable());
  session_.idles(first, true);
  ASSERT_TRUE(session_.startable());
  auto suspect = session_.start(0ms).front();
  EXPECT_EQ(session_.suspect_room(0ms), 0) << "it runs alone";
  session_.idles(suspect, true);
  EXPECT_EQ(session_.suspect_room(0ms), 1);
  session_.idles(first, false);
  finish(first);
  finish(suspect);
  session_.took({claim(), claim(true)}, 0ms);
  ASSERT_TRUE(session_.startable());
  session_.start(0ms);
  EXPECT_FALSE(session_.startable()) << "what runs is counted as before";
}

}  // namespace
}  // namespace holdfast
