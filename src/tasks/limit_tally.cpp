#include "tasks/limit_tally.hpp"

namespace holdfast {

LimitTally::LimitTally(std::vector<Limit> limits) {
  for (auto& limit : limits) {
    Place place{limit.scope, limit.name};
    limits_.emplace(std::move(place), std::move(limit));
  }
}

void LimitTally::add_running(const LimitNames& names, std::int64_t count) {
  uses_[{LimitScope::queue, std::string{names.queue}}].running += count;
  uses_[{LimitScope::kind, std::string{names.kind}}].running += count;
  if (!names.key.empty()) uses_[{LimitScope::key, std::string{names.key}}].running += count;
}

void LimitTally::add_bucket(LimitScope scope, std::string_view name, const TokenBucket& bucket) {
  uses_[{scope, std::string{name}}].bucket = bucket;
}

std::vector<LimitStatus> LimitTally::statuses(WallTime now) const {
  std::map<Place, LimitStatus> statuses;
  for (const auto& [place, limit] : limits_) statuses[place].limit = limit;
  for (const auto& [place, use] : uses_) {
    auto at = statuses.find(place);
    if (at == statuses.end()) at = statuses.find({place.first, std::string{each_name}});
    if (at == statuses.end()) continue;
    LimitUse shown{place.first, place.second, use.running};
    if (const auto& rate = at->second.limit.rate)
      shown.tokens = use.bucket ? tokens_in(refilled(*use.bucket, *rate, now), *rate)
                                : std::int64_t{rate->capacity()};
    at->second.uses.push_back(std::move(shown));
  }
  std::vector<LimitStatus> list;
  for (auto& [place, status] : statuses) list.push_back(std::move(status));
  return list;
}

}  // namespace holdfast
