#pragma once

#include <vector>

#include "simulation/world.hpp"

namespace holdfast::sim {

inline constexpr const char* task_kind = "work";

/// Enqueues tasks. When it hears no reply it asks again, with the same ids.
class Client {
 public:
  explicit Client(World& world) : world_{world} {}

  void plan_for(int most_tasks) { most_tasks_ = most_tasks; }
  void step();
  /// Asks again for everything that was not answered.
  void finish();

 private:
  std::vector<NewTask> make_up();
  NewTask make_up_one();
  void enqueue(std::vector<NewTask> tasks);

  World& world_;
  std::vector<std::vector<NewTask>> unanswered_;
  int planned_ = 0;
  int most_tasks_ = 0;
};

}  // namespace holdfast::sim
