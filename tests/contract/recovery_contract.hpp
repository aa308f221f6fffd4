#pragma once

#include <holdfast/inspector.hpp>

#include "contract/leases_contract.hpp"

namespace holdfast::test {

/// Recovery as its callers see it, on a real store.
class RecoveryContract : public LeasesContract {
 protected:
  Inspector inspector() { return Inspector{shared_engine()}; }
  /// A task whose worker has been silent for too long.
  TaskId make_stale(TaskOptions options = {});
  /// A task that was alone in its worker when that died.
  TaskId make_culprit(TaskOptions options = {});
  std::vector<RecoveryReport> stored() { return engine().reports().newest(1'000, 1'000); }
};

}  // namespace holdfast::test
