#include "recovery/bare_report.hpp"

namespace holdfast {

RecoveryReport bare_report(const RecoveryReport& report) {
  RecoveryReport bare;
  bare.started_at = report.started_at;
  bare.completed_at = report.completed_at;
  bare.duration = report.duration;
  bare.trigger = report.trigger;
  bare.action = report.action;
  bare.start_up = report.start_up;
  bare.errors = report.errors;
  return bare;
}

}  // namespace holdfast
