#include "batches/unit_store.hpp"

#include <limits>

#include "batches/unit_result.hpp"

namespace holdfast {

namespace {

/// A summary that cannot be made is tried again for ever: the rows are done, and what keeps it from
/// being written (a store of blobs that is away, say) is not their fault.
constexpr Millis before_next_summary{60'000};
/// Whoever wrote a summary and died was most likely not killed by it: the next one does it at once.
/// If that goes on, it may be to blame, and must not take one worker after the other with it.
constexpr int deaths_at_once = 5;
constexpr int as_often_as_it_takes = std::numeric_limits<int>::max();

std::string name_of(const Claimed& claimed) {
  if (!row_of(claimed.lease.id)) return name_of_summary(batch_of_summary(claimed.lease.id));
  auto [batch, line] = place_of(claimed.payload);
  return name_of_row(batch, line);
}

UnitEnd again(const Settlement& settlement, Millis delay) {
  return {.lease = settlement.lease,
          .to = BatchStatus::queued,
          .attempt = settlement.attempt,
          .was_attempt = settlement.was_attempt,
          .delay = delay};
}

UnitEnd end_of(const Settlement& settlement) {
  bool is_row = row_of(settlement.lease.id).has_value();
  switch (settlement.to) {
    case TaskState::completed: {
      auto result = unpack_result(settlement.result);
      return {.lease = settlement.lease,
              .to = result.status,
              .result = std::move(result.result),
              .messages = std::move(result.messages),
              .output = std::move(result.output),
              .counts = result.counts,
              .follow_ups = settlement.follow_ups};
    }
    case TaskState::failed:
      if (!is_row) return again(settlement, before_next_summary);
      return {.lease = settlement.lease,
              .to = BatchStatus::failed,
              .messages = messages_about(settlement.reason)};
    default:
      return again(settlement, settlement.delay);
  }
}

/// A summary is needed whatever becomes of those who write it.
Verdict for_summary(Verdict verdict) {
  bool at_once = verdict.crashes <= deaths_at_once;
  if (verdict.to != TaskState::pending) verdict.suspect = true;
  verdict.to = TaskState::pending;
  verdict.delay = at_once ? Millis{0} : before_next_summary;
  return verdict;
}

/// There is nobody to whom a row could be held: one that keeps ending its workers fails, with the
/// evidence.
Verdict for_units(Verdict verdict) {
  if (!row_of(verdict.lease.id)) return for_summary(std::move(verdict));
  if (verdict.to != TaskState::held && verdict.to != TaskState::failed) return verdict;
  verdict.to = TaskState::failed;
  if (!verdict.cause.empty()) verdict.reason = verdict.cause;
  return verdict;
}

}  // namespace

std::vector<Inserted> UnitStore::insert(std::span<const NewTask>) {
  throw InvalidRequest{"rows are not enqueued one by one; submit or append to a batch"};
}

Exchanged UnitStore::exchange(const Exchange& exchange) {
  std::vector<UnitEnd> ends;
  ends.reserve(exchange.settle.size());
  for (const auto& settlement : exchange.settle) ends.push_back(end_of(settlement));
  auto exchanged = batches_.exchange(ends, exchange.claim);
  for (auto& claimed : exchanged.claimed) {
    claimed.max_attempts = row_of(claimed.lease.id) ? options_.max_attempts : as_often_as_it_takes;
    claimed.timeout = options_.row_timeout;
    claimed.name = name_of(claimed);
  }
  if (presence_) {
    presence_->changed(exchanged.claimed, exchange.settle);
    for (const auto& end : ends)
      if (!row_of(end.lease.id)) presence_->summed_up(batch_of_summary(end.lease.id));
  }
  return exchanged;
}

std::vector<Recorded> UnitStore::record(std::span<const Note> notes) {
  return std::vector<Recorded>(notes.size(), Recorded{.accepted = true});
}

std::optional<WallTime> UnitStore::next_due(const ClaimRequest& claim) {
  return batches_.next_due(claim);
}

std::vector<Renewal> UnitStore::renew(std::span<const Lease> leases, Millis length) {
  return batches_.renew(leases, length);
}

std::vector<Orphan> UnitStore::orphans(int limit, std::span<const WorkerId> as_if_buried) {
  std::lock_guard lock{mutex_};
  opinion_.ask();
  // Every run of recovery comes by here, and one that only wants to know names somebody.
  if (as_if_buried.empty()) opinion_.claim_for_nobody();
  auto orphans = batches_.orphans(limit, as_if_buried);
  opinion_.leave_out_taken(orphans);
  for (auto& orphan : orphans)
    orphan.max_attempts = row_of(orphan.lease.id) ? options_.max_attempts : as_often_as_it_takes;
  return orphans;
}

std::vector<bool> UnitStore::reclaim(std::span<const Verdict> verdicts, const ReportHead& report) {
  std::vector<Verdict> fitted;
  fitted.reserve(verdicts.size());
  for (const auto& verdict : verdicts) fitted.push_back(for_units(verdict));
  return batches_.reclaim(fitted, report);
}

}  // namespace holdfast
