#include <gtest/gtest.h>

#include <cerrno>

#include "faults/fault_run.hpp"

namespace holdfast::test {
namespace {

class NoMemory : public testing::Test {
 protected:
  static void SetUpTestSuite() { intercept_allocations(); }
};

TEST_F(NoMemory, ForOneAllocationRefusesAtMostOneStepAndGoesOn) {
  fail_in_turn({.among = {Call::allocate}, .fault = {ENOMEM}}, 71);
}

TEST_F(NoMemory, UntilThereIsSomeAgainRefusesAndThenGoesOn) {
  fail_in_turn({.among = {Call::allocate}, .fault = {ENOMEM}, .for_ever = true}, 97);
}

}  // namespace
}  // namespace holdfast::test
