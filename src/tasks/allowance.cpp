#include "tasks/allowance.hpp"

#include <algorithm>

namespace holdfast {

Allowance::Allowance(std::vector<Limit> limits, WallTime now, ReadBucket read_bucket)
    : now_{now}, read_bucket_{std::move(read_bucket)} {
  for (auto& limit : limits) {
    Place place{limit.scope, limit.name};
    limits_.emplace(std::move(place), std::move(limit));
  }
}

bool Allowance::counts_running() const {
  return std::ranges::any_of(limits_,
                             [](const auto& each) { return each.second.max_running.has_value(); });
}

const Limit* Allowance::limit_of(const Place& place) const {
  auto own = limits_.find(place);
  if (own == limits_.end()) own = limits_.find({place.first, std::string{each_name}});
  return own == limits_.end() ? nullptr : &own->second;
}

Allowance::Gauge& Allowance::gauge(LimitScope scope, std::string_view name) {
  Place place{scope, name};
  auto [found, is_new] = gauges_.try_emplace(place);
  auto& gauge = found->second;
  if (!is_new) return gauge;
  gauge.limit = limit_of(place);
  if (gauge.limit && gauge.limit->rate) {
    const auto& rate = *gauge.limit->rate;
    auto stored = read_bucket_(scope, place.second);
    gauge.bucket = stored ? refilled(*stored, rate, now_) : full_bucket(rate, now_);
    // The clock was set back: from now on it must count from here.
    gauge.changed = stored && stored->at > now_;
  }
  return gauge;
}

/// Calls `what(Gauge&)` for each limit that is about a task.
template <class F>
void Allowance::each(const LimitNames& names, F what) {
  auto look = [&](LimitScope scope, std::string_view name) {
    auto& found = gauge(scope, name);
    if (found.limit) what(found);
  };
  look(LimitScope::queue, names.queue);
  look(LimitScope::kind, names.kind);
  if (!names.key.empty()) look(LimitScope::key, names.key);
}

void Allowance::add_running(const LimitNames& names, std::int64_t count) {
  each(names, [&](Gauge& gauge) { gauge.running += count; });
}

int Allowance::room(const LimitNames& names, int wanted) {
  std::int64_t room = wanted;
  each(names, [&](Gauge& gauge) {
    const auto& limit = *gauge.limit;
    if (limit.max_running) room = std::min(room, *limit.max_running - gauge.running);
    if (limit.rate) room = std::min(room, tokens_in(gauge.bucket, *limit.rate));
  });
  return static_cast<int>(std::max<std::int64_t>(room, 0));
}

bool Allowance::take(const LimitNames& names) {
  if (room(names, 1) == 0) return false;
  each(names, [&](Gauge& gauge) {
    ++gauge.running;
    if (!gauge.limit->rate) return;
    gauge.bucket.parts -= gauge.limit->rate->period.count();
    gauge.changed = true;
  });
  return true;
}

void Allowance::put_back(const LimitNames& names, std::int64_t count) {
  each(names, [&](Gauge& gauge) {
    gauge.running -= count;
    if (gauge.limit->rate) gauge.bucket.parts += count * gauge.limit->rate->period.count();
  });
}

std::optional<WallTime> Allowance::room_at(const LimitNames& names) {
  WallTime at = now_;
  bool never = false;
  each(names, [&](Gauge& gauge) {
    const auto& limit = *gauge.limit;
    never |= limit.max_running == 0;
    if (limit.max_running && gauge.running >= *limit.max_running)
      at = std::max(at, now_ + look_for_room_again);
    if (limit.rate) at = std::max(at, next_token(gauge.bucket, *limit.rate));
  });
  if (never) return {};
  return at;
}

std::vector<Allowance::ChangedBucket> Allowance::changed() const {
  std::vector<ChangedBucket> buckets;
  for (const auto& [place, gauge] : gauges_) {
    if (!gauge.changed) continue;
    buckets.push_back({place.first, place.second, gauge.bucket,
                       holdfast::full_at(gauge.bucket, *gauge.limit->rate)});
  }
  return buckets;
}

}  // namespace holdfast
