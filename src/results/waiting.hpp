#pragma once

#include <chrono>

#include "results/tally.hpp"

namespace holdfast::results {

/// What a result remembers while it waits for parts. How long its producer has been silent is
/// counted in slices through which it listened and nothing was in the way: each is written down
/// when it is over, so a crash costs one at most. Where the store, the broker or the blobs are
/// away, where messages wait or nobody runs it, no slice comes to its end, and the time stands
/// still.
struct Waiting {
  using Clock = std::chrono::steady_clock;

  Waiting(Tally parts, Millis abandon_after);

  /// Something new came: the producer lives.
  void begin_anew();
  /// Until the slice is over.
  Millis left() const;
  /// The slice is over and nothing came.
  void count_silence();
  Millis silent() const { return Millis{tally.known.silent_ms}; }

  Tally tally;
  Millis slice;
  Clock::time_point ends;
  bool undelivered = false;  ///< messages waited in a queue when the last slice was over
};

}  // namespace holdfast::results
