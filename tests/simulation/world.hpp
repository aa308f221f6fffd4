#pragma once

#include <functional>

#include "simulation/dice.hpp"
#include "simulation/ledger.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::sim {

inline constexpr Millis lease_length{90'000};

/// What the actors of one history share.
struct World {
  World(std::uint64_t seed, bool aloud, EngineParts& an_engine, VirtualClock& a_clock, Probe& probe,
        Coverage& coverage)
      : dice{seed},
        clock{a_clock},
        engine{an_engine},
        trace{aloud},
        ledger{probe, a_clock, trace, coverage} {}

  Dice dice;
  VirtualClock& clock;
  EngineParts& engine;
  Trace trace;
  Ledger ledger;
  /// Faults are over: nothing crashes, pauses or gets lost any more, unless that is its nature.
  bool calm = false;
  /// Lets somebody else do something. Every actor calls `yield` around each of its calls to the
  /// store, so that others act in between, and others again in between theirs.
  std::function<void()> others{};
  /// Lets the owner of a claim renew it.
  std::function<void(WorkerId)> nudge{};
  int depth = 0;

  void yield() {
    constexpr int deepest = 3;
    if (depth >= deepest) return;
    ++depth;
    for (int more = 0; more < 3 && dice.percent(calm ? 10 : 25); ++more) others();
    --depth;
  }
  /// A fault happens here. Never in calm times.
  bool fault(int percent) { return !calm && dice.percent(percent); }

  TaskId new_task_id() {
    TaskId id;
    for (std::size_t i = 0; i < id.bytes.size(); i += 8) {
      auto bits = dice.next();
      for (std::size_t j = 0; j < 8; ++j, bits >>= 8) id.bytes[i + j] = bits & 0xff;
    }
    id.bytes[0] = static_cast<std::uint8_t>(++ids_);  // in the order in which they were made
    return id;
  }
  int number(TaskId id) { return ledger.entry(id).number; }

 private:
  int ids_ = 0;
};

}  // namespace holdfast::sim
