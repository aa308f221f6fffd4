// What a worker does about kinds whose handlers cannot begin in it.

#include <algorithm>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "recovery/time_text.hpp"
#include "tasks/policy.hpp"
#include "tasks/worker_impl.hpp"

namespace holdfast {

ClaimRequest Worker::Impl::careful_claim(int limit, int suspects) const {
  auto request = claim_request(limit, suspects);
  if (breaker_.all_fine()) return request;
  auto claimable = breaker_.claimable(kinds_, parts_.clock().steady());
  request.kinds = std::move(claimable.kinds);
  if (claimable.single) request.limit = std::min(limit, 1);
  return request;
}

void Worker::Impl::require_hope() {
  std::lock_guard lock{mutex_};
  if (!breaker_.hopeless(kinds_, parts_.clock().steady())) return;
  std::string why;
  for (const auto& [kind, reason] : breaker_.reasons())
    why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", kind, reason);
  throw CannotBegin{
      fmt::format("no task could be begun for {}: {}", duration_text(KindBreaker::patience), why)};
}

Settlement Worker::Impl::could_not_begin(const Job& job, const CannotBegin& error, Comes comes) {
  const auto& kind = job.claimed.kind;
  KindBreaker::Opened opened;
  {
    std::lock_guard lock{mutex_};
    opened = breaker_.could_not_begin(kind, error.what(), parts_.clock().steady());
    any_paused_ = true;
    session_.give_back_waiting(kind);
    wake_pump();
  }
  if (opened.counts)
    parts_.events().emit(KindPaused{enlistment()->id(), kind, error.what(), opened.pause});
  auto settlement =
      give_back(job.claimed, fmt::format("Its worker could not begin it: {}", error.what()));
  if (comes == Comes::later) settlement.delay = opened.pause;
  return settlement;
}

void Worker::Impl::has_begun(const std::string& kind) {
  if (!any_paused_) return;
  bool well = false;
  {
    std::lock_guard lock{mutex_};
    well = breaker_.began(kind);
    any_paused_ = !breaker_.all_fine();
    look_again_ = look_again_ || well;
  }
  if (well) parts_.events().emit(KindResumed{enlistment()->id(), kind});
}

}  // namespace holdfast
