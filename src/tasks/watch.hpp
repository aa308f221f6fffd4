#pragma once

#include <stop_token>

#include "tasks/recovery_of.hpp"

namespace holdfast {

/// Notices deaths of workers and takes back what they held: of a worker, or of a server beside
/// none. Of one thread, but for `look_again`. Throws what the store throws; then it can be called
/// again.
class Watch {
 public:
  explicit Watch(EngineParts& parts);

  /// Before anything else: takes back what was left when the store was used last.
  void start_up(std::stop_token stop = {});
  /// Waits for a death until `until` (steady) at most, or until it is time to look for those that
  /// nothing told of, and recovers if it was one of these.
  void run_once(std::stop_token stop, Millis until = Millis::max());

  /// When the next look must be at the latest (steady); `Millis::max()`: nothing waits for one.
  Millis look_again() const { return recovery_.look_again(); }

 private:
  Millis now() const { return parts_.clock().steady(); }

  EngineParts& parts_;
  Recovery recovery_;
  std::optional<StartUp> found_;  ///< when the store was opened; reported once
  const Millis every_;
  Millis next_look_;
};

}  // namespace holdfast
