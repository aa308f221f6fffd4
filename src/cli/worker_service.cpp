#include "cli/worker_service.hpp"

#include <mutex>
#include <optional>

#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/inspector.hpp>

#include "recovery/clock.hpp"
#include "recovery/fatal_signals.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

std::string usual_status(const Engine& engine) {
  return fmt::format("working on {}", engine.name());
}

}  // namespace

/// When the heart of this process's worker last went round. What reached the store is seen there,
/// as others see it; what did not is told by events.
class WorkerService::Heartbeats {
 public:
  Heartbeats(const Systemd& systemd, const Engine& engine)
      : systemd_{systemd},
        name_{engine.name()},
        // A beat may be that late and the worker that busy; more is left to the watchdog's time.
        patience_{engine.settings().heartbeat.interval + systemd.watchdog()} {}

  void hear(const Event& event, const std::string& status) {
    if (const auto* enlisted = std::get_if<WorkerEnlisted>(&event)) {
      std::lock_guard lock{mutex_};
      if (!worker_) systemd_.ready(status);
      worker_ = enlisted->id;
      went_round();
    } else if (const auto* failed = std::get_if<HeartbeatFailed>(&event)) {
      std::lock_guard lock{mutex_};
      if (worker_ == failed->id) went_round();
      trouble_ = fmt::format("cannot reach {}: {}", name_, failed->why);
    }
  }

  Pulse pulse(const Engine& engine) {
    const auto worker = current();
    if (!worker) return {false};  // not ready yet: systemd does not watch before that
    const auto seen = last_seen(engine, *worker);
    std::lock_guard lock{mutex_};
    if (seen && seen != seen_) {
      seen_ = seen;
      trouble_.clear();
      went_round();
    }
    const auto silence = system_clock().steady() - last_round_;
    if (silence <= patience_) return {true, trouble_};
    return {false, fmt::format("no heartbeat for {}, and will be started anew if it goes on",
                               duration_text(silence))};
  }

 private:
  std::optional<WorkerId> current() {
    std::lock_guard lock{mutex_};
    return worker_;
  }

  static std::optional<WallTime> last_seen(const Engine& engine, WorkerId id) {
    try {
      for (const auto& worker : Inspector{engine}.workers())
        if (worker.id == id) return worker.last_heartbeat;
    } catch (const StoreError&) {
      // The worker finds out as well, and says so.
    }
    return {};
  }

  void went_round() { last_round_ = system_clock().steady(); }

  Systemd systemd_;
  std::string name_;
  Millis patience_;
  std::mutex mutex_;
  std::optional<WorkerId> worker_{};
  std::optional<WallTime> seen_{};
  Millis last_round_{};
  std::string trouble_{};
};

WorkerService::WorkerService(const Systemd& systemd, const Engine& engine)
    : heartbeats_{std::make_shared<Heartbeats>(systemd, engine)},
      watchdog_{systemd, usual_status(engine),
                [heartbeats = heartbeats_, engine](const std::function<void(Pulse)>& answer) {
                  answer(heartbeats->pulse(engine));
                }} {
  record_fatal_signals();
  engine.events().subscribe([heartbeats = heartbeats_, status = usual_status(engine)](
                                const Event& event) { heartbeats->hear(event, status); });
}

}  // namespace holdfast::cli
