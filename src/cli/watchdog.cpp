#include "cli/watchdog.hpp"

#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace holdfast::cli {

/// Shared with answers, which may come when nobody waits for them any more.
class Watchdog::Feeding : public std::enable_shared_from_this<Watchdog::Feeding> {
 public:
  Feeding(const Systemd& systemd, std::string status, Question ask)
      : systemd_{systemd}, usual_{std::move(status)}, ask_{std::move(ask)}, said_{usual_} {}

  void run(std::stop_token stop) {
    // One question may get lost in a busy moment without anybody being restarted for it.
    const auto pause = systemd_.watchdog() / 3;
    std::unique_lock lock{mutex_};
    while (!stop.stop_requested()) {
      if (!asked_) {
        asked_ = true;
        lock.unlock();
        ask_([self = shared_from_this()](Pulse pulse) { self->answered(std::move(pulse)); });
        lock.lock();
      } else {
        say("does not answer, and will be started anew if it goes on like this");
      }
      wake_.wait_for(lock, stop, pause, [] { return false; });
    }
  }

 private:
  void answered(Pulse pulse) {
    std::lock_guard lock{mutex_};
    asked_ = false;
    if (pulse.well) systemd_.alive();
    say(pulse.remark.empty() ? usual_ : pulse.remark);
  }

  void say(const std::string& text) {
    if (said_ == text) return;
    said_ = text;
    systemd_.status(text);
  }

  Systemd systemd_;
  std::string usual_;
  Question ask_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool asked_ = false;
  std::string said_;
};

Watchdog::Watchdog(const Systemd& systemd, std::string status, Question ask) {
  if (systemd.watchdog() <= std::chrono::milliseconds{0}) return;
  feeding_ = std::make_shared<Feeding>(systemd, std::move(status), std::move(ask));
  thread_ = std::jthread{[feeding = feeding_](std::stop_token stop) { feeding->run(stop); }};
}

}  // namespace holdfast::cli
