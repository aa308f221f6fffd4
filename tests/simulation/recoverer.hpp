#pragma once

#include <holdfast/events.hpp>

#include "simulation/world.hpp"

namespace holdfast::sim {

/// A process that runs recovery. Between any two of recovery's calls to the store others act, and
/// it may die there or not hear the answer.
class Recoverer {
 public:
  Recoverer(World& world, Settings::Recovery settings, int number)
      : world_{world}, settings_{settings}, number_{number} {}

  bool busy() const { return busy_; }
  void run_once();

 private:
  World& world_;
  Settings::Recovery settings_;
  Events events_;
  int number_;
  bool busy_ = false;
};

}  // namespace holdfast::sim
