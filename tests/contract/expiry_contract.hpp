#pragma once

#include "contract/recovery_contract.hpp"

namespace holdfast::test {

/// What a recovery believes that knows only the age of a lease.
class ExpiryContract : public RecoveryContract {
 protected:
  struct Recoverer;
};

/// Of engines whose leases end by a clock that nobody can set.
class SteadyClockContract : public LeasesContract {};

/// Of engines whose leases end by the wall clock of a server. The clock of these tests only stands
/// for it: server_clock_test.cpp sets the clocks of real servers.
class ServerClockContract : public LeasesContract {};

}  // namespace holdfast::test
