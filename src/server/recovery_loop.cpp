#include "server/recovery_loop.hpp"

#include <condition_variable>
#include <mutex>

#include <holdfast/error.hpp>

#include "tasks/watch.hpp"

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
  Watch watch{parts};
  bool begun = false;
  while (!stop.stop_requested()) {
    try {
      if (!begun) watch.start_up(stop);
      begun = true;
      watch.run_once(stop);
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
