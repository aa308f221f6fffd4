#include "tasks/upkeep.hpp"

#include <algorithm>

namespace holdfast {

namespace {

/// For this long a busy worker may fill the store beyond its limits before anyone looks.
constexpr Millis prune_interval{250};
constexpr int pruned_at_once = 1'000;
constexpr int pruned_in_a_hurry = 16'000;
/// A step takes a fiftieth of this, or less.
constexpr Millis scrub_interval{1'000};

}  // namespace

Upkeep::Upkeep(EngineParts& parts)
    : parts_{parts},
      prune_limit_{pruned_at_once},
      next_prune_{now() + prune_interval},
      next_scrub_{now() + scrub_interval} {}

Millis Upkeep::next() const { return std::min(next_prune_, next_scrub_); }

void Upkeep::run_once() {
  const auto began = now();
  if (began >= next_prune_) next_prune_ = prune();
  if (began >= next_scrub_) next_scrub_ = scrub();
}

Millis Upkeep::scrub() {
  if (auto result = parts_.scrub()) parts_.events().emit(IntegrityChecked{*result});
  return now() + scrub_interval;
}

Millis Upkeep::prune() {
  const auto began = now();
  const auto pruned = parts_.admin().prune(parts_.settings().retention, prune_limit_);
  const auto ended = now();
  // Tasks end as fast as old ones go, or faster: several workers settle thousands of them between
  // two steps of the one that removes. So there is no time to lose, and the next step is a longer
  // one.
  prune_limit_ = pruned.hurry ? std::min(2 * prune_limit_, pruned_in_a_hurry) : pruned_at_once;
  if (pruned.hurry) return ended;
  // Old tasks do no harm, but removing them costs: most of the time is left to others.
  if (pruned.removed > 0) return ended + 3 * (ended - began) + Millis{1};
  return ended + prune_interval;
}

}  // namespace holdfast
