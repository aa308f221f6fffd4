#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

#include "support/journal.hpp"

namespace holdfast::test {

/// What can be wrong after a run. Counting completions alone would miss most of these.
enum class Defect {
  lost,               ///< acknowledged, and not in the store
  stuck,              ///< in the store, and not finished although everything had its time
  unexpected,         ///< in the store, and nobody asked for it
  settled_twice,      ///< two ends were accepted
  stale_accepted,     ///< a write of a former holder was accepted
  false_dead_letter,  ///< failed, although no handler ever failed it
  follow_up_missing,  ///< completed without the task that was to follow in the same step
  follow_up_doubled,  ///< more than one follow-up, or one without a completion
  over_limit,         ///< more attempts charged than allowed
  claimed_twice,      ///< one claim was run twice
  effect_doubled,     ///< two values for what is recorded once
  token_repeated,     ///< the store has a smaller token than somebody ran under
  report_mismatch,    ///< recovery's reports say something else than the tasks' history
  refusal_uncounted,  ///< a worker was refused, and the store did not count it
  miscounted,         ///< the store keeps another number of tasks than it has
};
std::string_view to_string(Defect defect);

struct Finding {
  Defect defect = Defect::lost;
  TaskId task{};
  std::string text{};
};

/// The store as it stands at the end.
struct StoreView {
  std::vector<TaskRecord> tasks;
  std::map<TaskId, std::vector<Transition>> history;  ///< recorded steps, oldest first
  std::vector<RecoveryReport> reports;
  bool reports_were_shed = false;  ///< then the oldest are missing
  std::int64_t refused = 0;
  std::vector<QueueStatus> queues{};  ///< with the counts that the store keeps
};
StoreView view_store(const Engine& engine);

/// What the run was like, where that changes what is right.
struct Expectations {
  /// Finished tasks may have been removed: then an absent task is lost only if it never finished.
  bool may_be_pruned = false;
  /// Meant to be quarantined.
  std::set<TaskId> held{};
};

/// Compares what processes said with what the store says. Every task of kind `order` asks for
/// exactly one task of kind `receipt` (payload `{"order": id}`) to follow it, and its result is
/// `{"token": n}`, the token of the attempt that completed it.
std::vector<Finding> find_defects(const std::vector<JournalLine>& journal, const StoreView& store,
                                  const Expectations& expectations = {});

/// One line a finding, the first few of each kind; empty if all is well.
std::string to_text(const std::vector<Finding>& findings);

}  // namespace holdfast::test
