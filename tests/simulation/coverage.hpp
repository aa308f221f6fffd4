#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

/// Rare things that a good run of many histories must have met. A simulation that never gets there
/// shows nothing about them.
enum class Sometimes {
  enqueue_repeated,
  settlement_repeated,
  stale_settlement_refused,
  stale_note_refused,
  effect_kept_first_value,
  claim_reply_lost,
  lapsed_lease_renewed,
  renewal_beat_reclaim,
  rival_recovery_was_faster,
  rival_burial_was_faster,
  heartbeat_beat_burial,
  buried_alive,
  recovery_died_after_reclaim,
  recovery_reply_lost,
  recovery_finished_by_another,
  report_interrupted,
  retired_worker_left_claim,
  clearing_refused,
  bystander_uncharged,
  culprit_charged,
  suspect_ran_alone,
  quarantined,
  dead_letter_by_handler,
  dead_letter_by_recovery,
  cancelled_by_handler,
  cancelled_by_recovery,
  cancelled_after_verdict,
  taken_by_force,
  lease_ended_by_own_watch,
  handler_given_up,
  handful_started,
  given_back_at_shutdown,
  completed_after_crash,
  retried_by_operator_and_completed,
  dependent_released,
  dependent_cancelled,
  follow_up_inserted,
  wall_clock_went_back,
  count,
};

std::string_view to_string(Sometimes point);

class Coverage {
 public:
  void hit(Sometimes point) { ++hits_[static_cast<std::size_t>(point)]; }
  /// Points that were never met.
  std::vector<std::string_view> missed() const;
  std::string to_text() const;

 private:
  std::array<std::int64_t, static_cast<std::size_t>(Sometimes::count)> hits_{};
};

}  // namespace holdfast::sim
