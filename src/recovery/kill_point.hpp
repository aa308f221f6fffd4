#pragma once

#include <array>
#include <string_view>

namespace holdfast {

/// Named places where a process may die at the worst moment. In test builds
/// `HOLDFAST_KILL_AT=name` (or `name:n` for the n-th visit) makes it die there by SIGKILL; a test
/// visits every one. In release builds they are nothing.
enum class KillPoint {
  enqueue_before_commit,
  enqueue_after_commit,
  exchange_before_commit,
  exchange_after_commit,
  handler_before_start,
  handler_after_return,
  record_before_commit,
  record_after_commit,
  renew_before_commit,
  renew_after_commit,
  enlist_before_row,
  enlist_after_row,
  retire_before_row,
  retire_after_row,
  bury_before_commit,
  bury_after_commit,
  reclaim_before_commit,
  reclaim_after_commit,
  clear_before_files,
  clear_after_files,
  report_before_commit,
  report_after_commit,
  checkpoint_before,
  checkpoint_after,
  move_before_commit,
  move_after_commit,
  prune_before_commit,
  prune_after_commit,
  schema_before_commit,
  schema_after_commit,
  child_before_start,
  child_after_start,
  evidence_before_copy,
  evidence_after_copy,
  mend_within,
  start_up_before_checkpoint,
  start_up_after_checkpoint,
  start_up_before_ready,
  close_before_mark,
  close_after_mark,
  replace_before_intent,
  replace_after_intent,
  replace_before_rename,
  replace_after_rename,
  backup_before_rename,
  backup_after_rename,
  schedule_before_commit,
  schedule_after_commit,
  limit_before_commit,
  limit_after_commit,
  made_before_marker,
  made_after_marker,
};

inline constexpr std::array kill_point_names = {
    std::string_view{"enqueue_before_commit"},
    std::string_view{"enqueue_after_commit"},
    std::string_view{"exchange_before_commit"},
    std::string_view{"exchange_after_commit"},
    std::string_view{"handler_before_start"},
    std::string_view{"handler_after_return"},
    std::string_view{"record_before_commit"},
    std::string_view{"record_after_commit"},
    std::string_view{"renew_before_commit"},
    std::string_view{"renew_after_commit"},
    std::string_view{"enlist_before_row"},
    std::string_view{"enlist_after_row"},
    std::string_view{"retire_before_row"},
    std::string_view{"retire_after_row"},
    std::string_view{"bury_before_commit"},
    std::string_view{"bury_after_commit"},
    std::string_view{"reclaim_before_commit"},
    std::string_view{"reclaim_after_commit"},
    std::string_view{"clear_before_files"},
    std::string_view{"clear_after_files"},
    std::string_view{"report_before_commit"},
    std::string_view{"report_after_commit"},
    std::string_view{"checkpoint_before"},
    std::string_view{"checkpoint_after"},
    std::string_view{"move_before_commit"},
    std::string_view{"move_after_commit"},
    std::string_view{"prune_before_commit"},
    std::string_view{"prune_after_commit"},
    std::string_view{"schema_before_commit"},
    std::string_view{"schema_after_commit"},
    std::string_view{"child_before_start"},
    std::string_view{"child_after_start"},
    std::string_view{"evidence_before_copy"},
    std::string_view{"evidence_after_copy"},
    std::string_view{"mend_within"},
    std::string_view{"start_up_before_checkpoint"},
    std::string_view{"start_up_after_checkpoint"},
    std::string_view{"start_up_before_ready"},
    std::string_view{"close_before_mark"},
    std::string_view{"close_after_mark"},
    std::string_view{"replace_before_intent"},
    std::string_view{"replace_after_intent"},
    std::string_view{"replace_before_rename"},
    std::string_view{"replace_after_rename"},
    std::string_view{"backup_before_rename"},
    std::string_view{"backup_after_rename"},
    std::string_view{"schedule_before_commit"},
    std::string_view{"schedule_after_commit"},
    std::string_view{"limit_before_commit"},
    std::string_view{"limit_after_commit"},
    std::string_view{"made_before_marker"},
    std::string_view{"made_after_marker"},
};
static_assert(kill_point_names.size() ==
              static_cast<std::size_t>(KillPoint::made_after_marker) + 1);

#ifdef HOLDFAST_KILL_POINTS
void kill_point(KillPoint point);
#else
inline void kill_point(KillPoint) {}
#endif

}  // namespace holdfast
