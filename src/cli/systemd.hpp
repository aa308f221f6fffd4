#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// Tells systemd how this process is doing, if that started it and wants to know (Type=notify).
/// Where it did not, nothing is told to anybody. Copies speak for the same process.
class Systemd {
 public:
  /// Takes what systemd put into the environment out of it, so that programs that we start do not
  /// speak for us. Make it before any thread.
  Systemd();

  void ready(std::string_view status) const;
  /// One line for `systemctl status`.
  void status(std::string_view text) const;
  void stopping() const;
  /// All is well. Has to be said within every `watchdog`.
  void alive() const;
  /// There is nobody who could say `alive`, so it must not be waited for.
  void unwatched() const;

  /// After so long a silence the process is taken for hung and started anew; 0: never.
  std::chrono::milliseconds watchdog() const { return watchdog_; }

 private:
  void send(std::string_view message) const;

  std::string socket_;
  std::chrono::milliseconds watchdog_{0};
};

}  // namespace holdfast::cli
