#include "tasks/live_attempt.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <holdfast/tasks.hpp>

#include "recovery/child_lock.hpp"
#include "recovery/clock.hpp"

namespace holdfast {

namespace {

constexpr auto progress_interval = std::chrono::milliseconds{200};
constexpr std::size_t longest_line = 4'096;

/// The first bytes of a line, without half a character at the end.
std::string_view beginning(std::string_view line) {
  if (line.size() <= longest_line) return line;
  auto end = longest_line;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
  return line.substr(0, end);
}

}  // namespace

LiveAttempt::LiveAttempt(const Job& job, TaskStore& store, Enlistment& enlistment,
                         const Settings& settings, TakeNote note, std::function<void()> begun)
    : job_{job},
      store_{store},
      enlistment_{enlistment},
      settings_{settings},
      note_{std::move(note)},
      begun_{std::move(begun)} {}

LiveAttempt::~LiveAttempt() {
  if (child_lock_) drop_child_lock(enlistment_.files(), task(), child_lock_.get());
}

void LiveAttempt::progress(double fraction, std::string_view text) {
  auto now = std::chrono::steady_clock::now();
  if (now - last_progress_ < progress_interval && fraction < 1) return;
  last_progress_ = now;
  note_({job_.claimed.lease, ProgressNote{std::clamp(fraction, 0.0, 1.0), std::string{text}}});
}

void LiveAttempt::log(std::string_view line) {
  ++lines_;
  if (lines_ > settings_.limits.log_lines_per_attempt) return;
  auto text = lines_ == settings_.limits.log_lines_per_attempt
                  ? fmt::format("({} lines are enough: the rest is not kept)", lines_)
                  : std::string{beginning(line)};
  note_({job_.claimed.lease, LogNote{std::move(text), number()}});
}

TaskId LiveAttempt::then_json(std::string kind, std::string payload, TaskOptions options) {
  NewTask task{std::move(kind), std::move(payload), std::move(options)};
  validate(task, settings_);
  return add(std::move(task));
}

TaskId LiveAttempt::add_own(NewTask task) {
  validate_own(task, settings_);
  return add(std::move(task));
}

TaskId LiveAttempt::add(NewTask task) {
  made_all_ids_ = made_all_ids_ && !task.options.id;
  if (!task.options.id) task.options.id = TaskId::make();
  follow_ups_.push_back(std::move(task));
  return *follow_ups_.back().options.id;
}

std::string LiveAttempt::record_once(std::string_view key, std::string_view value) {
  std::array notes{Note{job_.claimed.lease, EffectNote{std::string{key}, std::string{value}}}};
  auto recorded = store_.record(notes);
  if (!recorded.front().accepted) {
    throw LeaseLost{fmt::format("task {} is no longer held by this worker: '{}' was not recorded",
                                task().text(), key)};
  }
  return std::move(recorded.front().value);
}

int LiveAttempt::child_lock() {
  if (!child_lock_) {
    child_lock_ = take_child_lock(enlistment_.files(), task());
    expect_still_held();
  }
  return child_lock_.get();
}

int LiveAttempt::open_shared_lock() {
  return make_shared_child_lock(enlistment_.files()).release();
}

void LiveAttempt::share_lock(int lock) {
  // A descriptor of our own, by which the name can be removed when the process is gone.
  FileDescriptor own{::fcntl(lock, F_DUPFD_CLOEXEC, 0)};
  share_child_lock(enlistment_.files(), task(), lock);
  child_lock_ = std::move(own);
  // Processes are shared to save the time that one takes to start. To ask about attempts that were
  // claimed a moment ago would take longer than they do, and nobody takes those back.
  auto held_for = system_clock().steady() - job_.claim_asked_at;
  if (held_for > settings_.heartbeat.lease() / 2) expect_still_held();
}

void LiveAttempt::expect_still_held() {
  // Whoever slept until now may have lost the task meanwhile. With the lock in our hands nobody can
  // take it while we look.
  std::array lease{job_.claimed.lease};
  try {
    if (store_.renew(lease, settings_.heartbeat.lease()).front() == Renewal::lost)
      throw LeaseLost{"task " + task().text() + " is no longer held by this worker"};
  } catch (const StoreError&) {
    // Nobody can take it from a store that does not answer, and if that lasts, the lease ends.
  }
}

}  // namespace holdfast
