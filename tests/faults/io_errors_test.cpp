#include <gtest/gtest.h>

#include <cerrno>

#include "faults/fault_run.hpp"

namespace holdfast::test {
namespace {

const std::set<Call> every_call{Call::open,   Call::read,  Call::write,      Call::truncate,
                                Call::sync,   Call::size,  Call::lock,       Call::exists,
                                Call::remove, Call::share, Call::lock_shared};
/// Those that need room.
const std::set<Call> growing_calls{Call::write, Call::share};

TEST(IoErrors, OfAnyCallLoseNothingThatWasAcknowledged) {
  fail_in_turn({.among = every_call, .fault = {EIO}}, 1);
}

TEST(IoErrors, FromAnyCallOnLoseNothingThatWasAcknowledged) {
  fail_in_turn({.among = every_call, .fault = {EIO}, .for_ever = true}, 5);
}

TEST(IoErrors, OfAnySyncEndAllWriting) {
  fail_in_turn({.among = {Call::sync}, .fault = {EIO}}, 1);
  fail_in_turn({.among = {Call::sync}, .fault = {ENOSPC}}, 1);
}

TEST(IoErrors, HalfAWriteLosesNothingThatWasAcknowledged) {
  fail_in_turn({.among = {Call::write}, .fault = {EIO, true}}, 3);
}

TEST(NoRoom, ForOneWriteRefusesOneStepAndGoesOn) {
  fail_in_turn({.among = growing_calls, .fault = {ENOSPC}}, 4);
}

TEST(NoRoom, UntilThereIsSomeAgainRefusesAndThenGoesOn) {
  fail_in_turn({.among = growing_calls, .fault = {ENOSPC}, .for_ever = true}, 7);
}

TEST(NoRoom, ForTheRestOfAWriteRefusesAndThenGoesOn) {
  fail_in_turn({.among = {Call::write}, .fault = {ENOSPC, true}, .for_ever = true}, 9);
}

}  // namespace
}  // namespace holdfast::test
