#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <holdfast/error.hpp>

#include "support/manual_clock.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::test {

/// One empty store of some engine. An engine's own test implements this and instantiates the
/// contract suites with it:
///
///     INSTANTIATE_TEST_SUITE_P(Sqlite, LeasesContract, testing::Values(sqlite_case), case_name);
class EngineUnderTest {
 public:
  virtual ~EngineUnderTest() = default;
  /// A new engine object on the store. Calling it twice gives two objects that share nothing but
  /// the store, as two processes would; dropping one and calling again is a restart.
  virtual std::shared_ptr<EngineParts> open(const Settings& settings, const Clock& clock) = 0;
};

struct EngineCase {
  std::string name;
  std::function<std::unique_ptr<EngineUnderTest>()> make;
};

inline std::string case_name(const testing::TestParamInfo<EngineCase>& info) {
  return info.param.name;
}

/// What every contract suite starts from: an empty store, two engine objects on it, a clock that
/// the test moves, and the shortest words for the usual steps.
class StoreContract : public testing::TestWithParam<EngineCase> {
 protected:
  StoreContract();
  ~StoreContract() override;
  /// Whatever the test did, the counts that the store keeps are those of its tasks.
  void TearDown() override { expect_true_counts(); }
  void expect_true_counts();

  EngineParts& engine() { return *first_; }
  Engine shared_engine() const { return Engine{first_}; }
  /// Another process on the same store, opened at its first use.
  EngineParts& other();
  /// One more, with settings of its own.
  std::shared_ptr<EngineParts> open_with(const Settings& settings) {
    return store_->open(settings, clock_);
  }
  /// Closes every engine object and opens the store again.
  void reopen();

  TaskStore& tasks() { return engine().tasks(); }
  WorkerRegistry& workers() { return engine().workers(); }
  ManualClock& clock() { return clock_; }

  TaskId insert(const std::string& kind, TaskOptions options = {}, std::string payload = "{}");
  /// Enlists a worker that lives as long as the fixture, or until `die`.
  WorkerId enlist(Millis lease = Millis{90'000});
  /// Lets go of a worker's proof of life without a goodbye, as a crash would.
  void die(WorkerId worker);
  /// It has this in a handler now, and nothing else.
  void starts(WorkerId worker, const Lease& lease);
  /// `die`, and be declared dead by whoever looks.
  void die_and_be_buried(WorkerId worker);

  /// The report that this test's recovery writes.
  const ReportHead& report() const { return report_; }

  ClaimRequest request(WorkerId worker, int limit = 1);
  std::vector<Claimed> claim(WorkerId worker, int limit = 1);
  /// Claims one and expects to get it.
  Claimed claim_one(WorkerId worker);
  Settled settle(const Settlement& settlement);
  Settled complete(const Claimed& claimed);

  /// An operator acts, from another process.
  void ask_to_stop(TaskId id);
  void cancel(TaskId id);

  TaskRecord record(TaskId id);
  TaskState state(TaskId id) { return record(id).state; }

 private:
  ManualClock clock_;
  ReportHead report_{ReportId::make(), clock_.wall(), "test"};
  std::unique_ptr<EngineUnderTest> store_;
  std::shared_ptr<EngineParts> first_;
  std::shared_ptr<EngineParts> second_;
  std::vector<std::unique_ptr<Enlistment>> enlistments_;
};

}  // namespace holdfast::test
