#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include <holdfast/events.hpp>
#include <holdfast/liveness.hpp>

#include "batches/batch_store.hpp"
#include "recovery/clock.hpp"
#include "recovery/recovery_memory.hpp"

namespace holdfast {

/// What recovery learns about workers of another make, which hold rows without a claim, and does
/// about those of their dead. Everything that it cannot learn leaves rows where they are.
///
/// Heartbeats, and when a row was seen first, end by clocks of servers. So who is dead, and which
/// row is nobody's, is believed after two looks that are further apart than heartbeats are.
class SecondOpinion {
 public:
  /// `liveness` may be null: then only `queue_unclaimed_after` speaks.
  SecondOpinion(BatchStore& store, Liveness* liveness, const Events* events,
                Millis queue_unclaimed_after, const Liveness::Times& times, const Clock& clock,
                RecoveryMemory& memory);

  /// Asks. To be called once for every look at orphans.
  void ask();
  /// Makes orphans of rows that the dead left without a claim.
  void claim_for_nobody();
  /// Rows that a worker of another make took over from ours and has now: nobody may take them.
  void leave_out_taken(std::vector<Orphan>& orphans) const;

 private:
  void believe_the_dead(std::vector<Liveness::Peer> silent, std::size_t peers);
  void claim(std::vector<UnclaimedRow> unclaimed);
  /// Who lives says so more often.
  Millis between_looks() const { return times_.heartbeat * 3 / 4; }

  BatchStore& store_;
  Liveness* liveness_;
  const Events* events_;
  Millis queue_unclaimed_after_;
  Liveness::Times times_;
  const Clock* clock_;
  RecoveryMemory* memory_;
  bool answered_ = false;
  bool in_trouble_ = false;
  std::unordered_map<std::int64_t, std::string> at_work_;  // rows, and the worker that has each
  std::vector<Liveness::Peer> dead_;
  std::int64_t silent_ = 0;  // who may be dead, and may not
};

}  // namespace holdfast
