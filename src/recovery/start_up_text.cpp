#include "recovery/start_up_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "recovery/plain_text.hpp"
#include "recovery/time_text.hpp"

namespace holdfast {

namespace {

constexpr std::size_t most_damage_shown = 20;

void add_line(std::string& text, std::string_view name, std::string_view value) {
  if (!value.empty()) text += fmt::format("  {:<16} {}\n", fmt::format("{}:", name), plain(value));
}

void add_damage(std::string& text, std::string_view heading, const std::vector<Damage>& damage) {
  if (damage.empty()) return;
  text += fmt::format("\n{}: {}\n", heading, damage.size());
  for (std::size_t i = 0; i < std::min(damage.size(), most_damage_shown); ++i) {
    const auto& one = damage[i];
    text +=
        fmt::format("  {}{}: {}\n", to_string(one.kind),
                    one.task ? fmt::format(", task {}", one.task->text()) : "", plain(one.what));
  }
  if (damage.size() > most_damage_shown)
    text += fmt::format("  and {} more\n", damage.size() - most_damage_shown);
}

std::string shutdown_text(const StartUp& start_up) {
  if (!start_up.unclean) return "clean";
  return start_up.rebooted ? "unclean: the machine was restarted"
                           : "unclean: the last process did not close the store";
}

std::string wal_text(const StartUp& start_up) {
  if (!start_up.wal_unread.empty() && start_up.wal_frames == 0) return "not read";
  return fmt::format("{} of {} frames checkpointed ({} bytes found)",
                     start_up.wal_frames_checkpointed, start_up.wal_frames, start_up.wal_bytes);
}

std::string level_text(const StartUp& start_up) {
  std::string level{to_string(start_up.level)};
  return start_up.reason.empty() ? level : level + ": " + start_up.reason;
}

std::string point_text(const StartUp::RecoveryPoint& point, WallTime now) {
  auto newest =
      point.newest ? fmt::format(", newest task {}", point.newest->text()) : std::string{};
  auto frame = point.wal_frame == 0 ? std::string{"the database file"}
                                    : fmt::format("WAL frame {}", point.wal_frame);
  return fmt::format("{}, written {} ({}){}", frame, iso8601(point.at), age_text(point.at, now),
                     newest);
}

}  // namespace

std::string to_text(const IntegrityResult& result) {
  if (result.passed && !result.completed && result.rows_checked == 0) return "not looked at";
  return fmt::format("{} ({}{}, {} rows, {})", result.passed ? "passed" : "FAILED",
                     result.full ? "full" : "quick", result.completed ? "" : ", not finished",
                     result.rows_checked, duration_text(result.duration));
}

std::string to_text(const StartUp& start_up, WallTime now) {
  auto text = fmt::format("Start-up, ready after {}", duration_text(start_up.duration));
  if (!start_up.wal_unread.empty()) text += "; the WAL was not read: " + plain(start_up.wal_unread);
  text += "\n";
  add_line(text, "last shutdown", shutdown_text(start_up));
  add_line(text, "integrity check", to_text(start_up.integrity));
  add_line(text, "advice", start_up.integrity.advice);
  add_line(text, "WAL", wal_text(start_up));
  add_line(
      text, "checkpoint",
      start_up.checkpoint_error.empty() ? std::string{} : "failed: " + start_up.checkpoint_error);
  if (start_up.wal_restored)
    add_line(text, "journal mode", "was " + start_up.journal_mode + ", set back to wal");
  if (start_up.recovery_point)
    add_line(text, "recovery point", point_text(*start_up.recovery_point, now));
  add_line(text, "repair", start_up.repair);
  add_line(text, "evidence", start_up.evidence);
  add_line(text, "kept aside", start_up.kept_aside);
  if (start_up.level != RunLevel::normal) add_line(text, "run level", level_text(start_up));
  add_damage(text, "Damage found", start_up.integrity.damage);
  add_damage(text, "Lost or partial", start_up.losses);
  return text;
}

}  // namespace holdfast
