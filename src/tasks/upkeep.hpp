#pragma once

#include "tasks/engine_parts.hpp"

namespace holdfast {

/// What has to be done to a store now and then by anybody who works on it for long: removes old
/// history, and looks for damage. Of one thread.
class Upkeep {
 public:
  explicit Upkeep(EngineParts& parts);

  /// When something is due (steady).
  Millis next() const;
  /// One step of each that is due.
  void run_once();

 private:
  Millis now() const { return parts_.clock().steady(); }
  /// Each does one step, and returns when the next one is due.
  Millis prune();
  Millis scrub();

  EngineParts& parts_;
  int prune_limit_;  ///< tasks in the next step
  Millis next_prune_, next_scrub_;
};

}  // namespace holdfast
