#include "server/recovery_loop.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include <holdfast/error.hpp>

#include "tasks/recovery_of.hpp"

namespace holdfast::server {

namespace {

constexpr Millis after_trouble{1'000};

void rest(std::stop_token stop, Millis time) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock{mutex};
  wake.wait_for(lock, stop, time, [] { return false; });
}

}  // namespace

RecoveryLoop::RecoveryLoop(Engine engine)
    : engine_{std::move(engine)}, thread_{[this](std::stop_token stop) { run(std::move(stop)); }} {}

void RecoveryLoop::run(std::stop_token stop) {
  if (engine_.run_level() != RunLevel::normal) return;
  auto& parts = engine_.parts();
  auto recovery = recovery_of(parts);
  auto start_up = parts.take_start_up();
  const auto every = parts.settings().heartbeat.detection_interval;
  bool begun = false;
  auto next = parts.clock().steady() + every;
  while (!stop.stop_requested()) {
    try {
      if (!begun) recovery.run_once("start-up", stop, start_up);
      begun = true;
      const auto look = std::min(next, recovery.look_again());
      const auto wait = std::max(look - parts.clock().steady(), Millis{0});
      const bool death = parts.workers().wait_for_death(wait, stop);
      if (stop.stop_requested()) return;
      if (death || parts.clock().steady() >= look) recovery.run_once("watch", stop);
      if (parts.clock().steady() >= next) next = parts.clock().steady() + every;
    } catch (const StorageFailed& error) {
      // What else this process does with the store fails in the same way, and says so to callers.
      parts.events().emit(StoreTrouble{"watching for dead workers", error.what()});
      return;
    } catch (const StoreError& error) {
      parts.events().emit(StoreTrouble{"watching for dead workers", error.what()});
      rest(stop, after_trouble);
    }
  }
}

}  // namespace holdfast::server
