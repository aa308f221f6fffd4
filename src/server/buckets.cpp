#include "server/buckets.hpp"

namespace holdfast::server {

namespace {

/// More than there are tokens: others have been revoked, or belong to sessions.
constexpr std::size_t most_credentials = 10'000;

}  // namespace

std::map<std::string, TokenBucket>::iterator Buckets::find(const std::string& credential,
                                                           const Rate& rate, WallTime now) {
  auto found = buckets_.find(credential);
  // Forgetting one fills it, so what makes room is what would be full soonest, or is already.
  if (found == buckets_.end() && buckets_.size() >= most_credentials)
    buckets_.erase(
        std::ranges::min_element(buckets_, {}, [](const auto& each) { return each.second.at; }));
  if (found == buckets_.end()) found = buckets_.emplace(credential, full_bucket(rate, now)).first;
  found->second = refilled(found->second, rate, now);
  return found;
}

Millis Buckets::take(const std::string& credential, const Rate& rate, int count, Millis now) {
  std::lock_guard lock{mutex_};
  auto& bucket = find(credential, rate, WallTime{now})->second;
  const auto missing = std::int64_t{count} * rate.period.count() - bucket.parts;
  if (missing > 0) return Millis{(missing + rate.tasks - 1) / rate.tasks};
  bucket.parts = -missing;
  return Millis{0};
}

void Buckets::put_back(const std::string& credential, const Rate& rate, int count, Millis now) {
  std::lock_guard lock{mutex_};
  auto& bucket = find(credential, rate, WallTime{now})->second;
  bucket.parts =
      std::min(bucket.parts + std::int64_t{count} * rate.period.count(), capacity_parts(rate));
}

Problem wait_for(std::string_view code, const std::string& detail, Millis wait) {
  const auto seconds =
      std::max<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(wait).count(), 1);
  return Problem{429, code, detail}.with("Retry-After", std::to_string(seconds));
}

}  // namespace holdfast::server
