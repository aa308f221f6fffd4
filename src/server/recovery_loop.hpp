#pragma once

#include <thread>

#include <holdfast/engine.hpp>

namespace holdfast::server {

/// Takes back what dead workers held as long as it lives, so that a store is recovered while no
/// worker of the library runs. Safe beside workers, who do the same.
class RecoveryLoop {
 public:
  explicit RecoveryLoop(Engine engine);

 private:
  void run(std::stop_token stop);

  Engine engine_;
  std::jthread thread_;
};

}  // namespace holdfast::server
