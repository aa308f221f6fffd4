#include "batches/second_opinion.hpp"

#include <fmt/format.h>

#include <holdfast/error.hpp>

namespace holdfast {

SecondOpinion::SecondOpinion(BatchStore& store, Liveness* liveness, const Events* events,
                             Millis queue_unclaimed_after, Millis rows_believed_for)
    : store_{store},
      liveness_{liveness},
      events_{events},
      queue_unclaimed_after_{queue_unclaimed_after},
      rows_believed_for_{rows_believed_for} {}

void SecondOpinion::ask() {
  answered_ = false;
  at_work_.clear();
  dead_.clear();
  if (!liveness_) return;
  try {
    for (auto& peer : liveness_->peers()) {
      if (!peer.alive) {
        dead_.push_back(std::move(peer));
        continue;
      }
      for (auto row : peer.rows) at_work_[row] = peer.worker;
    }
    answered_ = true;
    in_trouble_ = false;
  } catch (const Error& error) {
    at_work_.clear();
    dead_.clear();
    if (!in_trouble_)
      events_->emit(
          StoreTrouble{fmt::format("asking {} who lives", liveness_->name()), error.what()});
    in_trouble_ = true;
  }
}

void SecondOpinion::claim_for_nobody() {
  Unclaimed which;
  if (queue_unclaimed_after_ > Millis{0})
    which.seen_for = queue_unclaimed_after_;
  else if (answered_)
    which.seen_for = rows_believed_for_;
  if (!which.seen_for) return;
  for (const auto& [row, worker] : at_work_) which.at_work.push_back(row);
  for (const auto& peer : dead_)
    which.left.insert(which.left.end(), peer.rows.begin(), peer.rows.end());
  store_.claim_for_nobody(which);
  // Not before it is done: whoever dies in between leaves it for the next.
  try {
    for (const auto& peer : dead_) liveness_->forget(peer);
  } catch (const StoreError&) {
    // The next look finds them again.
    return;
  }
}

void SecondOpinion::leave_out_taken(std::vector<Orphan>& orphans) const {
  if (at_work_.empty()) return;
  std::erase_if(orphans, [&](const Orphan& orphan) {
    auto row = row_of(orphan.lease.id);
    auto taken = row ? at_work_.find(*row) : at_work_.end();
    return taken != at_work_.end() && taken->second != orphan.worker.text();
  });
}

}  // namespace holdfast
