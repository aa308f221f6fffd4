#pragma once

#include "contract/store_under_test.hpp"

namespace holdfast::test {

/// What `Leases` promises, tried on tasks.
class LeasesContract : public StoreContract {
 protected:
  Renewal renew(const Claimed& claimed, Millis length = Millis{90'000});
  std::vector<TaskId> orphan_ids(int limit = 100);
  /// The plainest verdict on an orphan: back to pending, nothing charged anew.
  static Verdict put_back(const Orphan& orphan);
  bool reclaim(const Verdict& verdict);
  /// The only orphan there is.
  Orphan only_orphan();
};

}  // namespace holdfast::test
