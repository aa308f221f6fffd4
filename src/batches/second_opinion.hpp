#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include <holdfast/events.hpp>
#include <holdfast/liveness.hpp>

#include "batches/batch_store.hpp"

namespace holdfast {

/// What recovery learns about workers of another make, which hold rows without a claim, and does
/// about those of their dead. Everything that it cannot learn leaves rows where they are.
class SecondOpinion {
 public:
  /// `liveness` may be null: then only `queue_unclaimed_after` speaks.
  SecondOpinion(BatchStore& store, Liveness* liveness, const Events* events,
                Millis queue_unclaimed_after, Millis rows_believed_for);

  /// Asks. To be called once for every look at orphans.
  void ask();
  /// Makes orphans of rows that the dead left without a claim.
  void claim_for_nobody();
  /// Rows that a worker of another make took over from ours and has now: nobody may take them.
  void leave_out_taken(std::vector<Orphan>& orphans) const;

 private:
  BatchStore& store_;
  Liveness* liveness_;
  const Events* events_;
  Millis queue_unclaimed_after_;
  Millis rows_believed_for_;
  bool answered_ = false;
  bool in_trouble_ = false;
  std::unordered_map<std::int64_t, std::string> at_work_;  // rows, and the worker that has each
  std::vector<Liveness::Peer> dead_;
};

}  // namespace holdfast
