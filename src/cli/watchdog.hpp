#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "cli/systemd.hpp"

namespace holdfast::cli {

/// How a process is, seen by somebody who asked it.
struct Pulse {
  bool well = true;
  std::string remark{};  ///< what to know about it; empty: nothing
};

/// Feeds systemd's watchdog as long as the process is well, so that one that hangs is started anew.
/// Does nothing where nobody watches.
class Watchdog {
 public:
  /// Begins to find out, and calls what it was given when it knows: at once or later, from any
  /// thread, even when the watchdog is gone. Not to call it at all is an answer, too.
  using Question = std::function<void(std::function<void(Pulse)> answer)>;

  /// `status` is what systemd shows while there is nothing else to say.
  Watchdog(const Systemd& systemd, std::string status, Question ask);

 private:
  class Feeding;
  std::shared_ptr<Feeding> feeding_;
  std::jthread thread_;
};

}  // namespace holdfast::cli
