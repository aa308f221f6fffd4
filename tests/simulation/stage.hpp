#pragma once

#include <deque>
#include <memory>

#include "simulation/client.hpp"
#include "simulation/person.hpp"
#include "simulation/process.hpp"
#include "simulation/recoverer.hpp"

namespace holdfast::sim {

/// Everybody who acts in one history, and who acts next.
class Stage {
 public:
  explicit Stage(World& world);

  void play();

 private:
  void act();
  void let_a_process_act();
  void let_time_pass();
  void start_process();
  void end_faults();
  void act_in_turn();
  Millis until_something_is_due();
  Process* any_process();
  bool defective() const { return !world_.ledger.findings().empty(); }

  World& world_;
  Settings::Recovery recovery_;
  Client client_;
  Person person_;
  std::vector<std::unique_ptr<Process>> processes_;  // the dead stay: frames may be inside them
  std::vector<std::unique_ptr<Recoverer>> recoverers_;
  // In calm times.
  Millis heart_at_{};
  Millis recovery_at_{};
};

}  // namespace holdfast::sim
