#pragma once

#include <memory>

#include <holdfast/engine.hpp>

#include "cli/systemd.hpp"
#include "cli/watchdog.hpp"

namespace holdfast::cli {

/// A process that runs handlers. It records what ends it, so that a handler that crashes it is told
/// from a process that was killed. As a service of systemd it is ready when its worker has begun,
/// and well as long as its heartbeats go round. Heartbeats that fail because the store is away are
/// no reason to start it anew, because it goes on by itself; those that are not even tried are.
class WorkerService {
 public:
  /// Before the worker is run.
  WorkerService(const Systemd& systemd, const Engine& engine);

 private:
  class Heartbeats;
  std::shared_ptr<Heartbeats> heartbeats_;
  Watchdog watchdog_;
};

}  // namespace holdfast::cli
