#pragma once

#include <algorithm>

#include <holdfast/limit.hpp>

namespace holdfast {

/// What is in a bucket, counted so that nothing is ever rounded: a token is `period` parts, and
/// each millisecond brings `tasks` of them. A wall clock that is set back brings nothing until it
/// runs on from there, and no bucket waits for the time that it was filled at.
struct TokenBucket {
  std::int64_t parts = 0;
  WallTime at{};
  bool operator==(const TokenBucket&) const = default;
};

constexpr std::int64_t capacity_parts(const Rate& rate) {
  return rate.capacity() * std::int64_t{rate.period.count()};
}

constexpr TokenBucket full_bucket(const Rate& rate, WallTime now) {
  return {capacity_parts(rate), now};
}

/// The same bucket at a later time.
constexpr TokenBucket refilled(const TokenBucket& bucket, const Rate& rate, WallTime now) {
  auto most = capacity_parts(rate);
  auto missing = most - std::clamp(bucket.parts, std::int64_t{0}, most);
  // Not the product of a long time: it could be more than a number can hold.
  auto until_full = (missing + rate.tasks - 1) / rate.tasks;
  auto passed = std::max<std::int64_t>((now - bucket.at).count(), 0);
  if (passed >= until_full) return {most, now};
  return {most - missing + passed * rate.tasks, now};
}

constexpr std::int64_t tokens_in(const TokenBucket& bucket, const Rate& rate) {
  return bucket.parts / rate.period.count();
}

/// When there is a token again, if none is taken.
constexpr WallTime next_token(const TokenBucket& bucket, const Rate& rate) {
  auto missing = rate.period.count() - bucket.parts;
  if (missing <= 0) return bucket.at;
  return bucket.at + Millis{(missing + rate.tasks - 1) / rate.tasks};
}

/// When it is full again, if none is taken. From then on nobody needs to remember it.
constexpr WallTime full_at(const TokenBucket& bucket, const Rate& rate) {
  auto missing = std::max<std::int64_t>(capacity_parts(rate) - bucket.parts, 0);
  return bucket.at + Millis{(missing + rate.tasks - 1) / rate.tasks};
}

}  // namespace holdfast
