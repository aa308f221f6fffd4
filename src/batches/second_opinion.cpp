#include "batches/second_opinion.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include <holdfast/error.hpp>

namespace holdfast {

namespace {

/// They name themselves as they like.
WorkerId id_of(const std::string& worker) {
  WorkerId id;
  for (std::size_t half = 0; half < 2; ++half) {
    auto hash = std::hash<std::string>{}(worker + std::to_string(half));
    for (std::size_t i = 0; i < 8; ++i, hash >>= 8) id.bytes[8 * half + i] = hash & 0xff;
  }
  return id;
}

}  // namespace

SecondOpinion::SecondOpinion(BatchStore& store, Liveness* liveness, const Events* events,
                             Millis queue_unclaimed_after, const Liveness::Times& times,
                             const Clock& clock, RecoveryMemory& memory)
    : store_{store},
      liveness_{liveness},
      events_{events},
      queue_unclaimed_after_{queue_unclaimed_after},
      times_{times},
      clock_{&clock},
      memory_{&memory} {}

void SecondOpinion::ask() {
  answered_ = false;
  at_work_.clear();
  dead_.clear();
  if (!liveness_) return;
  try {
    std::vector<Liveness::Peer> silent;
    auto peers = liveness_->peers();
    for (auto& peer : peers) {
      if (!peer.alive) {
        silent.push_back(std::move(peer));
        continue;
      }
      for (auto row : peer.rows) at_work_[row] = peer.worker;
    }
    believe_the_dead(std::move(silent), peers.size());
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

void SecondOpinion::believe_the_dead(std::vector<Liveness::Peer> silent, std::size_t peers) {
  std::vector<PastItsTime> seen;
  for (const auto& peer : silent)
    seen.push_back({.worker = id_of(peer.worker), .renewed_each = between_looks()});
  const auto over = memory_->others.look_at_workers(seen, peers, clock_->steady());
  for (std::size_t i = 0; i < silent.size(); ++i)
    if (over[i]) dead_.push_back(std::move(silent[i]));
  silent_ = std::ranges::count(over, false);
}

void SecondOpinion::claim_for_nobody() {
  memory_->others_waiting = silent_;
  if (queue_unclaimed_after_ <= Millis{0} && !answered_) return;
  Unclaimed which{.seen_for =
                      queue_unclaimed_after_ > Millis{0} ? queue_unclaimed_after_ : times_.rows};
  for (const auto& [row, worker] : at_work_) which.at_work.push_back(row);
  for (const auto& peer : dead_)
    which.left.insert(which.left.end(), peer.rows.begin(), peer.rows.end());
  claim(store_.unclaimed(which));
  // Not before it is done: whoever dies in between leaves it for the next.
  try {
    for (const auto& peer : dead_) liveness_->forget(peer);
  } catch (const StoreError&) {
    // The next look finds them again.
    return;
  }
}

void SecondOpinion::claim(std::vector<UnclaimedRow> unclaimed) {
  std::vector<PastItsTime> seen;
  for (const auto& one : unclaimed)
    if (!one.left)
      seen.push_back({.lease = {unit_of_row(one.row), {}},
                      .lease_until = Millis{one.seen_at},
                      .renewed_each = between_looks()});
  const auto over = memory_->others.look_at_leases(seen, true, clock_->steady());
  std::size_t next = 0;
  memory_->others_waiting +=
      std::erase_if(unclaimed, [&](const auto& one) { return !one.left && !over[next++]; });
  if (!unclaimed.empty()) store_.claim_for_nobody(unclaimed);
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
