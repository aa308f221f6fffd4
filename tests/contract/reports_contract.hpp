#pragma once

#include "contract/leases_contract.hpp"

namespace holdfast::test {

/// What every store promises about the reports of recovery.
class ReportsContract : public LeasesContract {
 protected:
  Reports& reports() { return engine().reports(); }
  /// A run's last words, about nothing but when it was.
  RecoveryReport last_words() const;
  /// `count` orphans of a worker that was buried under `report()`.
  std::vector<Orphan> make_orphans(int count);
  /// Every report there is, newest first.
  std::vector<RecoveryReport> all() { return reports().newest(1'000, 1'000); }
};

}  // namespace holdfast::test
