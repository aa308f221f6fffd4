#pragma once

#include "simulation/world.hpp"

namespace holdfast::sim {

/// An operator who calls off, retries, holds and pauses, at any time and without much thought.
class Person {
 public:
  explicit Person(World& world) : world_{world} {}

  void step();
  void resume_all();

 private:
  void act_on(TaskId id);
  void move(TaskId id, TaskAdmin::Move move, const char* what);
  void pause(const std::string& queue, bool paused);

  World& world_;
};

}  // namespace holdfast::sim
