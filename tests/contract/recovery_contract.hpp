#pragma once

#include <holdfast/inspector.hpp>

#include "contract/leases_contract.hpp"
#include "recovery/recovery.hpp"

namespace holdfast::test {

/// The leases of a store, for tests that change one thing about them.
class LeasesOfStore : public Leases {
 public:
  explicit LeasesOfStore(Leases& store) : store_{store} {}

  std::vector<Renewal> renew(std::span<const Lease> leases, Millis length) override {
    return store_.renew(leases, length);
  }
  std::vector<Orphan> orphans(int limit, std::span<const WorkerId> as_if_buried) override {
    return store_.orphans(limit, as_if_buried);
  }
  std::vector<bool> reclaim(std::span<const Verdict> verdicts, const ReportHead& report) override {
    return store_.reclaim(verdicts, report);
  }
  const HostFiles* host_files() const override { return store_.host_files(); }

 private:
  Leases& store_;
};

/// Recovery as its callers see it, on a real store.
class RecoveryContract : public LeasesContract {
 protected:
  Inspector inspector() { return Inspector{shared_engine()}; }
  /// What is not told of `leases` is the engine's.
  Recovery recovery_of(Leases& leases, Recovery::Pause pause = {}) {
    return {leases,
            workers(),
            engine().reports(),
            engine().events(),
            engine().clock(),
            Settings::Recovery{},
            {},
            std::move(pause)};
  }
  /// A task whose worker has been silent for too long.
  TaskId make_stale(TaskOptions options = {});
  /// A task that was alone in its worker when that died.
  TaskId make_culprit(TaskOptions options = {});
  std::vector<RecoveryReport> stored() { return engine().reports().newest(1'000, 1'000); }
};

}  // namespace holdfast::test
