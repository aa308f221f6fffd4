#include "recovery/expiry_watch.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace holdfast {
namespace {

using testing::Each;
using testing::ElementsAre;

/// Workers with a lease each, and a clock that only this moves.
class ExpiryWatching : public testing::Test {
 protected:
  static constexpr Millis wait{45'000};

  static PastItsTime worker(int number, Millis until = Millis{1}) {
    PastItsTime one{.lease_until = until, .renewed_each = wait};
    one.worker.bytes[0] = static_cast<std::uint8_t>(number);
    return one;
  }
  static PastItsTime lease(int of_worker, int number, std::int64_t token = 1,
                           Millis until = Millis{1}) {
    auto one = worker(of_worker, until);
    one.lease.id.bytes[0] = static_cast<std::uint8_t>(number);
    one.lease.id.bytes[1] = static_cast<std::uint8_t>(number >> 8);
    one.lease.token = Token{token};
    return one;
  }
  std::vector<bool> workers(const std::vector<PastItsTime>& seen, std::size_t not_dead = 100) {
    return watch_.look_at_workers(seen, not_dead, now_);
  }
  std::vector<bool> leases(const std::vector<PastItsTime>& seen, bool all = true) {
    return watch_.look_at_leases(seen, all, now_);
  }

  Millis now_{5'000};
  ExpiryWatch watch_;
};

TEST_F(ExpiryWatching, NothingToSeeIsNothingToWaitFor) {
  EXPECT_THAT(workers({}), ElementsAre());
  EXPECT_EQ(watch_.look_again(), Millis::max());
  EXPECT_FALSE(watch_.mass());
}

TEST_F(ExpiryWatching, SecondLookAfterARenewalWouldHaveComeBelieves) {
  workers({});
  EXPECT_THAT(leases({lease(1, 1)}), ElementsAre(false));
  EXPECT_EQ(watch_.look_again(), now_ + wait);
  now_ += wait - Millis{1};
  EXPECT_THAT(leases({lease(1, 1)}), ElementsAre(false));
  now_ += Millis{1};
  EXPECT_THAT(leases({lease(1, 1)}), ElementsAre(true));
}

TEST_F(ExpiryWatching, OtherTokenOrOtherEndIsLookedAtAnew) {
  workers({});
  leases({lease(1, 1), lease(1, 2)});
  now_ += wait;
  EXPECT_THAT(leases({lease(1, 1, 2), lease(1, 2, 1, Millis{9})}), Each(false));
  now_ += wait;
  EXPECT_THAT(leases({lease(1, 1, 2), lease(1, 2, 1, Millis{9})}), Each(true));
}

TEST_F(ExpiryWatching, WhatALookDoesNotShowIsForgotten) {
  workers({});
  leases({lease(1, 1)});
  now_ += wait;
  leases({});
  EXPECT_EQ(watch_.leases_waiting(), 0U);
  EXPECT_EQ(watch_.look_again(), Millis::max());
  EXPECT_THAT(leases({lease(1, 1)}), ElementsAre(false)) << "as if for the first time";
}

TEST_F(ExpiryWatching, PortionOfALookForgetsNothingOfOthers) {
  workers({});
  leases({lease(1, 1)}, false);
  leases({lease(1, 2)}, false);
  EXPECT_EQ(watch_.leases_waiting(), 2U);
  now_ += wait;
  EXPECT_THAT(leases({lease(1, 1), lease(1, 2)}), Each(true));
}

TEST_F(ExpiryWatching, HalfOfTheWorkersAndASingleOneAreNoMass) {
  workers({worker(1), worker(2)}, 4);
  EXPECT_FALSE(watch_.mass());
  workers({worker(1)}, 1);
  EXPECT_FALSE(watch_.mass());
  EXPECT_FALSE(watch_.mass_began());
}

TEST_F(ExpiryWatching, MostWorkersAtOnceAreAMassAndToldOnce) {
  workers({worker(1), worker(2), worker(3)}, 5);
  ASSERT_TRUE(watch_.mass());
  EXPECT_EQ(watch_.mass()->workers, 3U);
  EXPECT_EQ(watch_.mass()->of, 5U);
  EXPECT_TRUE(watch_.mass_began());
  EXPECT_FALSE(watch_.mass_began());
  workers({worker(1)}, 5);
  EXPECT_FALSE(watch_.mass()) << "the others were renewed";
  workers({worker(1), worker(2), worker(3)}, 5);
  EXPECT_TRUE(watch_.mass_began()) << "another step";
}

TEST_F(ExpiryWatching, LeasesOfManyWorkersAreAMassToo) {
  workers({}, 3);
  leases({lease(1, 1), lease(2, 2), lease(2, 3)});
  ASSERT_TRUE(watch_.mass());
  EXPECT_EQ(watch_.mass()->workers, 2U);
}

TEST_F(ExpiryWatching, MassIsBelievedAQuarterAtATimeUntilAllAre) {
  std::vector<PastItsTime> all;
  for (int i = 1; i <= 10; ++i) all.push_back(worker(i));
  workers(all, 10);
  for (auto believed : {3, 6, 9, 10}) {
    now_ = believed == 3 ? watch_.look_again() : now_ + wait;
    EXPECT_EQ(std::ranges::count(workers(all, 10), true), believed);
    now_ += wait - Millis{1};
    EXPECT_EQ(std::ranges::count(workers(all, 10), true), believed) << "until renewals are due";
    now_ += Millis{1} - wait;
  }
}

TEST_F(ExpiryWatching, WhatIsRememberedIsBounded) {
  workers({});
  std::vector<PastItsTime> many;
  for (int i = 0; i < 60'000; ++i) many.push_back(lease(1, i));
  for (int i = 0; i < 60'000; ++i) many.push_back(lease(2, i));
  for (int i = 0; i < 60'000; ++i) many.push_back(lease(3, i));
  for (int i = 0; i < 60'000; ++i) many.push_back(lease(4, i));
  leases(many);
  EXPECT_EQ(watch_.leases_waiting(), 200'000U);
  now_ += wait;
  EXPECT_EQ(std::ranges::count(leases(many), true), 200'000);
}

}  // namespace
}  // namespace holdfast
