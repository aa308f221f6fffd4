#include "engines/redis/claims.hpp"

namespace holdfast::redis {

namespace {

/// Those of tasks that never end here are forgotten some time, and so are old ones of slow tasks.
constexpr std::size_t most_claims = 64;

}  // namespace

void Claims::took(Token token, const Record& record, std::span<const Claimed> tasks) {
  std::lock_guard lock{mutex_};
  // Never one of which only a part was told: that would count too few.
  if (!claims_.contains(token) && claims_.size() >= most_claims) claims_.erase(claims_.begin());
  auto& claim = claims_[token];
  claim.left += std::ssize(tasks);
  if (record) {
    claim.records.reserve(claim.records.size() + tasks.size());
    for (const auto& task : tasks) claim.records.emplace(task.lease.id, record);
  }
}

Claims::Known Claims::take(const Lease& lease) {
  std::lock_guard lock{mutex_};
  auto claim = claims_.find(lease.token);
  if (claim == claims_.end()) return {};
  auto record = claim->second.records.extract(lease.id);
  if (record.empty()) return {};
  return {std::move(record.mapped()), claim->second.left};
}

void Claims::settled(std::span<const Settlement> sent, std::span<const Settled> answers) {
  std::lock_guard lock{mutex_};
  for (std::size_t i = 0; i < sent.size(); ++i) {
    auto claim = claims_.find(sent[i].lease.token);
    if (claim == claims_.end()) continue;
    // Somebody else has taken it, or its first answer was lost.
    if (answers[i] != Settled::accepted || --claim->second.left == 0) claims_.erase(claim);
  }
}

void Claims::unanswered(std::span<const Settlement> sent) {
  std::lock_guard lock{mutex_};
  for (const auto& one : sent) claims_.erase(one.lease.token);
}

}  // namespace holdfast::redis
