#include "recovery/expiry_watch.hpp"

#include <algorithm>
#include <utility>

namespace holdfast {

namespace {

/// First looks that are remembered. What does not fit waits until there is room.
constexpr std::size_t most_remembered = 200'000;
/// Several, and more than this share of all.
constexpr std::size_t several_workers = 2;
constexpr std::size_t share = 2;
/// While that lasts, so large a part of them is taken back each time a renewal is due.
constexpr std::size_t portions = 4;

}  // namespace

std::vector<bool> ExpiryWatch::look_at_workers(std::span<const PastItsTime> seen,
                                               std::size_t not_dead, Millis now) {
  std::lock_guard lock{mutex_};
  not_dead_ = not_dead;
  return look(workers_, seen, true, now);
}

std::vector<bool> ExpiryWatch::look_at_leases(std::span<const PastItsTime> seen, bool all,
                                              Millis now) {
  std::lock_guard lock{mutex_};
  return look(leases_, seen, all, now);
}

std::vector<bool> ExpiryWatch::look(Looks& looks, std::span<const PastItsTime> seen, bool all,
                                    Millis now) {
  Looks still;
  for (const auto& one : seen) {
    const Key key{one.worker, one.lease.id};
    First first{one.lease.token, one.lease_until, now, one.renewed_each};
    if (const auto before = looks.find(key); before != looks.end()) {
      const auto& known = before->second;
      if (known.token == first.token && known.lease_until == first.lease_until) first = known;
    } else if (looks.size() + still.size() >= most_remembered) {
      continue;
    }
    still[key] = first;
  }
  if (all) {
    looks = std::move(still);
  } else {
    for (auto& [key, first] : still) looks.insert_or_assign(key, first);
  }
  weigh(now);
  std::vector<bool> over;
  over.reserve(seen.size());
  for (const auto& one : seen) {
    const auto found = looks.find({one.worker, one.lease.id});
    const bool believed = !mass_ || admitted_.contains(one.worker);
    over.push_back(believed && found != looks.end() && found->second.ready_at() <= now);
  }
  return over;
}

/// Whether it is most of them, and if so, of which it may be believed.
void ExpiryWatch::weigh(Millis now) {
  std::set<WorkerId> affected;
  for (const auto* looks : {&workers_, &leases_})
    for (const auto& [key, first] : *looks) affected.insert(key.first);
  if (affected.size() < several_workers || affected.size() * share <= not_dead_) {
    mass_.reset();
    admitted_.clear();
    return;
  }
  if (!mass_) {
    announced_ = false;
    portion_ = 0;
    admit_more_at_ = now;
  }
  portion_ = std::max(portion_, (affected.size() + portions - 1) / portions);
  mass_ = Mass{affected.size(), std::max(not_dead_, affected.size())};
  admit_some(affected, now);
}

void ExpiryWatch::admit_some(const std::set<WorkerId>& affected, Millis now) {
  std::erase_if(admitted_, [&](const WorkerId& id) { return !affected.contains(id); });
  if (now < admit_more_at_) return;
  auto room = portion_;
  auto longest = Millis{0};
  for (const auto* looks : {&workers_, &leases_}) {
    for (const auto& [key, first] : *looks) {
      if (room == 0 || first.ready_at() > now || admitted_.contains(key.first)) continue;
      admitted_.insert(key.first);
      longest = std::max(longest, first.wait);
      --room;
    }
  }
  if (longest > Millis{0}) admit_more_at_ = now + longest;
}

Millis ExpiryWatch::look_again() const {
  std::lock_guard lock{mutex_};
  auto next = Millis::max();
  for (const auto* looks : {&workers_, &leases_}) {
    for (const auto& [key, first] : *looks) {
      auto at = first.ready_at();
      if (mass_ && !admitted_.contains(key.first)) at = std::max(at, admit_more_at_);
      next = std::min(next, at);
    }
  }
  return next;
}

std::size_t ExpiryWatch::leases_waiting() const {
  std::lock_guard lock{mutex_};
  return leases_.size();
}

std::optional<ExpiryWatch::Mass> ExpiryWatch::mass() const {
  std::lock_guard lock{mutex_};
  return mass_;
}

bool ExpiryWatch::mass_began() {
  std::lock_guard lock{mutex_};
  return !std::exchange(announced_, true);
}

}  // namespace holdfast
