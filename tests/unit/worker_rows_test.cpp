#include "engines/sqlite/worker_rows.hpp"

#include <gtest/gtest.h>

namespace holdfast::sqlite {
namespace {

using std::chrono::seconds;

constexpr const char* here = "boot-1/4026531834";
constexpr const char* other_time_namespace = "boot-1/4026532000";
constexpr const char* before_restart = "boot-0/4026531834";
constexpr Millis lease_end{1'000'000};

struct Case {
  const char* name;
  const char* clock;
  std::optional<bool> locked;
  Millis now;
  bool proven_dead;
  bool stale;
  const char* cause;
};

const Case cases[] = {
    {"AliveWithinItsLease", here, true, lease_end, false, false, ""},
    {"StoppedOrHung", here, true, lease_end + seconds{5}, false, true,
     "silent for 95 s; its lock is still held: stopped or hung"},
    {"DeadByItsLock", here, false, lease_end - seconds{60}, true, false, "its lock is free"},
    {"DeadByItsLockLongAgo", here, false, lease_end + seconds{60}, true, false, "its lock is free"},
    {"FileMissingWithinItsLease", here, {}, lease_end, false, false, ""},
    {"FileMissingAndSilent",
     here,
     {},
     lease_end + seconds{5},
     false,
     true,
     "silent for 95 s; it has no lock that would prove life"},
    {"MachineRestarted", before_restart, false, Millis{0}, true, false,
     "the machine was restarted"},
    {"MachineRestartedAndFileMissing",
     before_restart,
     {},
     Millis{0},
     true,
     false,
     "the machine was restarted"},
    {"LockHeldWhateverTheBootIdSays", before_restart, true, lease_end * 2, false, false, ""},
    {"OtherTimeNamespaceIsNeverTooOld", other_time_namespace, true, lease_end * 2, false, false,
     ""},
    {"OtherTimeNamespaceDeadByItsLock", other_time_namespace, false, Millis{0}, true, false,
     "its lock is free"},
    {"UnknownBootIsNoProof", "unknown-boot", {}, Millis{0}, false, false, ""},
};

class Judgement : public testing::TestWithParam<Case> {};

TEST_P(Judgement, IsByProofFirstAndAgeSecond) {
  WorkerRow row;
  row.clock = GetParam().clock;
  row.boot = boot_of(row.clock);
  row.status.stale_after = seconds{90};
  row.lease_until = lease_end;
  auto seen = judge(row, GetParam().locked, here, GetParam().now);
  EXPECT_EQ(seen.proven_dead, GetParam().proven_dead);
  EXPECT_EQ(seen.stale, GetParam().stale);
  EXPECT_EQ(seen.status.cause, GetParam().cause);
}

TEST_P(Judgement, OfTheBuriedStandsAndOnlyProofIsAdded) {
  WorkerRow row;
  row.clock = GetParam().clock;
  row.boot = boot_of(row.clock);
  row.lease_until = lease_end;
  row.buried = true;
  row.status.cause = "as it was found then";
  auto seen = judge(row, GetParam().locked, here, GetParam().now);
  EXPECT_TRUE(seen.buried);
  EXPECT_FALSE(seen.stale);
  EXPECT_EQ(seen.proven_dead, GetParam().proven_dead);
  EXPECT_EQ(seen.status.cause, "as it was found then");
}

INSTANTIATE_TEST_SUITE_P(Workers, Judgement, testing::ValuesIn(cases),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace holdfast::sqlite
