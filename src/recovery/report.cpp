#include <holdfast/report.hpp>

#include <utility>

namespace holdfast {

bool StartUp::found_anything() const {
  return unclean || wal_restored || !integrity.passed || !integrity.damage.empty() ||
         !checkpoint_error.empty() || !wal_unread.empty() || !repair.empty() || !losses.empty() ||
         level != RunLevel::normal;
}

void OrphanCounts::count(TaskState now, bool success) {
  if (!success) {
    ++not_taken;
  } else if (now == TaskState::failed) {
    ++failed;
  } else if (now == TaskState::held) {
    ++held;
  } else if (now == TaskState::cancelled) {
    ++cancelled;
  } else {
    ++pending;
  }
}

std::string_view to_string(ReportState state) {
  switch (state) {
    case ReportState::complete:
      return "complete";
    case ReportState::running:
      return "running";
    case ReportState::interrupted:
      return "interrupted";
    case ReportState::dry_run:
      break;
  }
  return "dry run";
}

bool RecoveryReport::found_anything() const {
  return orphans.all() > 0 || !dead_workers.empty() || !errors.empty() ||
         (start_up && start_up->found_anything());
}

void RecoveryReport::add(RecoveredTask task) {
  orphans.count(task.now, task.success);
  tasks.push_back(std::move(task));
}

}  // namespace holdfast
