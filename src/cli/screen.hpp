#pragma once

#include <termios.h>

#include <chrono>
#include <optional>
#include <string_view>

namespace holdfast::cli {

/// What a person did to a program that fills the screen.
enum class Nudge { none, end, resize, pause };

/// Keys and signals of a program that fills the screen. Make it before anything that starts
/// threads, because those inherit what is blocked.
class Nudges {
 public:
  Nudges();
  ~Nudges();
  Nudges(const Nudges&) = delete;
  Nudges& operator=(const Nudges&) = delete;

  /// Waits for one, at most so long.
  Nudge wait(std::chrono::milliseconds limit);
  /// It ended because of Ctrl-C.
  bool interrupted() const { return interrupted_; }

 private:
  Nudge of_signal();
  Nudge of_key();

  int signals_ = -1;  // a signalfd
  bool keys_ = false;
  bool interrupted_ = false;
};

/// A terminal that we draw on: what was there before comes back when this goes, as do the cursor
/// and the echo of keys.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Replaces what is shown. The lines have no characters that move the cursor, and those that are
  /// longer than the screen is wide are cut by it.
  void draw(std::string_view lines) const;

  static int height();

 private:
  std::optional<termios> before_{};
};

}  // namespace holdfast::cli
