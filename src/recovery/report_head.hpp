#pragma once

#include <string>

#include <holdfast/ids.hpp>
#include <holdfast/settings.hpp>
#include <holdfast/task.hpp>

namespace holdfast {

/// The report that a run of recovery is writing. Every step that the report is about is given this,
/// and adds itself to the report in the same commit, beginning the report if it is the first. So a
/// run that finds nothing leaves nothing, and one that dies leaves a report of exactly what it did.
struct ReportHead {
  ReportId id{};
  WallTime started_at{};
  std::string trigger{};
  RecoveryAction action = RecoveryAction::retry;
};

}  // namespace holdfast
