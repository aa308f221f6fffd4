#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <thread>
#include <vector>

#include "faults/fault_run.hpp"

namespace holdfast::test {
namespace {

const std::set<Call> every_call{Call::open,   Call::read,  Call::write,      Call::truncate,
                                Call::sync,   Call::size,  Call::lock,       Call::exists,
                                Call::remove, Call::share, Call::lock_shared};
/// Those that need room.
const std::set<Call> growing_calls{Call::write, Call::share};

/// Every so many calls one run; `HOLDFAST_FAULT_STRIDE` takes the place of `otherwise`.
int stride(int otherwise) {
  const char* given = std::getenv("HOLDFAST_FAULT_STRIDE");
  return given ? std::atoi(given) : otherwise;
}

/// One run for each n, several at a time: most of a run's time is spent waiting for the kernel to
/// take down its file watches. `HOLDFAST_FAULT=n` in the environment leaves one of them.
void for_each_n(const FaultPlan& plan, int every) {
  constexpr int threads = 6;
  const char* only = std::getenv("HOLDFAST_FAULT");
  state_after(0);
  std::atomic<int> n = only ? std::atoi(only) : 1;
  const int last = only ? n.load() : count_calls(plan.among);
  std::vector<std::jthread> runners;
  for (int i = 0; i < threads; ++i) {
    runners.emplace_back([&] {
      for (int mine = 0; (mine = n.fetch_add(every)) <= last;) {
        if (testing::Test::HasFailure()) return;
        auto own = plan;
        own.n = mine;
        FaultRun run{own};
        run.carry_out();
        EXPECT_TRUE(run.nth().struck()) << "HOLDFAST_FAULT=" << mine << " did not happen";
      }
    });
  }
}

TEST(IoErrors, OfAnyCallLoseNothingThatWasAcknowledged) {
  for_each_n({.among = every_call, .fault = {EIO}}, stride(1));
}

TEST(IoErrors, FromAnyCallOnLoseNothingThatWasAcknowledged) {
  for_each_n({.among = every_call, .fault = {EIO}, .for_ever = true}, stride(5));
}

TEST(IoErrors, OfAnySyncEndAllWriting) {
  for_each_n({.among = {Call::sync}, .fault = {EIO}}, 1);
  for_each_n({.among = {Call::sync}, .fault = {ENOSPC}}, 1);
}

TEST(IoErrors, HalfAWriteLosesNothingThatWasAcknowledged) {
  for_each_n({.among = {Call::write}, .fault = {EIO, true}}, stride(3));
}

TEST(NoRoom, ForOneWriteRefusesOneStepAndGoesOn) {
  for_each_n({.among = growing_calls, .fault = {ENOSPC}}, stride(2));
}

TEST(NoRoom, UntilThereIsSomeAgainRefusesAndThenGoesOn) {
  for_each_n({.among = growing_calls, .fault = {ENOSPC}, .for_ever = true}, stride(2));
}

TEST(NoRoom, ForTheRestOfAWriteRefusesAndThenGoesOn) {
  for_each_n({.among = {Call::write}, .fault = {ENOSPC, true}, .for_ever = true}, stride(3));
}

}  // namespace
}  // namespace holdfast::test
