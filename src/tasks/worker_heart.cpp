#include <algorithm>
#include <chrono>

#include "tasks/worker_impl.hpp"

namespace holdfast {

namespace {

/// A worker that has something to tell does not wait longer than this for its next heartbeat: that
/// much of what it counted may be lost with it.
constexpr Millis tell_figures_every{5'000};

}  // namespace

void Worker::Impl::beat() {
  using Steady = std::chrono::steady_clock;
  const auto interval = settings_.heartbeat.interval;
  auto due = Steady::now() + interval;
  auto wait = std::min(interval, tell_figures_every);
  while (pause(wait)) {
    try {
      if (Steady::now() >= due) {
        due = Steady::now() + interval;
        beat_once();
      } else if (anything_to_tell()) {
        send_beat();
      }
      wait =
          std::clamp(std::chrono::ceil<Millis>(due - Steady::now()), Millis{1}, tell_figures_every);
    } catch (const StorageFailed&) {
      storage_failed();
      return;
    } catch (const StoreError& error) {
      parts_.events().emit(HeartbeatFailed{enlistment()->id(), error.what()});
      due = Steady::now();
      wait = std::min(retry_beat, interval / 3);
    }
  }
}

void Worker::Impl::beat_once() {
  send_beat();
  renew_held();
  leave_if_moved();
}

void Worker::Impl::leave_if_moved() {
  auto note = parts_.move_note();
  if (!note || !note->done) return;
  {
    std::lock_guard lock{mutex_};
    was_moved_ = true;
  }
  drain();
}

void Worker::Impl::send_beat() {
  std::vector<TaskId> holding;
  WorkerId worker;
  {
    std::lock_guard lock{mutex_};
    worker = enlistment_->id();
    for (const auto& lease : session_.held()) holding.push_back(lease.id);
  }
  if (parts_.workers().beat(worker, holding, take_figures())) return;
  // Declared dead while it was alive but silent. The pump notices at its next claim, too.
  std::lock_guard lock{mutex_};
  look_again_ = true;
  wake_pump();
}

void Worker::Impl::note_standing() {
  figures_.draining = mode_ != Mode::working;
  if (options_.tells) figures_.tells = options_.tells();
  if (options_.troubles) figures_.troubles = options_.troubles();
  figures_.paused = breaker_.reasons();
}

bool Worker::Impl::anything_to_tell() {
  std::lock_guard lock{mutex_};
  note_standing();
  return figures_ != told_;
}

std::string Worker::Impl::take_figures() {
  std::lock_guard lock{mutex_};
  note_standing();
  if (figures_ == told_) return {};
  // They count as told although the answer may be lost: the next ones include them in any case, and
  // under another id they must not come again.
  told_ = figures_;
  return figures_.text();
}

void Worker::Impl::renew_held() {
  std::vector<Lease> leases;
  {
    std::lock_guard lock{mutex_};
    leases = session_.held();
  }
  if (leases.empty()) return;
  auto asked_at = parts_.clock().steady();
  auto renewals = parts_.tasks().renew(leases, settings_.heartbeat.lease());
  std::vector<JobPtr> to_stop;
  {
    std::lock_guard lock{mutex_};
    to_stop = session_.renewed(leases, renewals, asked_at, parts_.clock().steady());
    timer_due_.notify_one();
  }
  stop(to_stop);
}

}  // namespace holdfast
