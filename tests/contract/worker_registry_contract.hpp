#pragma once

#include "contract/store_under_test.hpp"

namespace holdfast::test {

/// What `WorkerRegistry` promises.
class WorkerRegistryContract : public StoreContract {
 protected:
  /// What is seen of a worker; throws if it is not seen at all.
  Sighting sight(WorkerId worker);
  bool is_seen(WorkerId worker);
  WorkerStatus status(WorkerId worker);
  bool beat(WorkerId worker) { return workers().beat(worker, {}); }
};

}  // namespace holdfast::test
