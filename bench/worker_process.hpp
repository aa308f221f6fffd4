#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include <holdfast/settings.hpp>

#include "scratch.hpp"

namespace holdfast::bench {

/// How a worker process of the bench is to behave. What is not said is as by default.
struct WorkerRole {
  Durability durability = Durability::power_safe;
  bool until_empty = false;
  int concurrency = 0;
  std::chrono::milliseconds heartbeat{0};  ///< 0: as by default
  std::int64_t max_bytes = 0;              ///< retention; 0: no limit
};

/// This program again, as a worker on the store in `scratch`. Gone with this object, by SIGKILL.
class WorkerProcess {
 public:
  WorkerProcess(const Scratch& scratch, const WorkerRole& role);
  /// One that claims so many tasks, does nothing with them, and waits to be killed.
  static WorkerProcess hoarder(const Scratch& scratch, Durability durability, int claims);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  ~WorkerProcess();

  pid_t pid() const { return pid_; }
  void kill();  ///< -9
  void wait();  ///< for its own end; throws if that was not a good one
  void drain();
  double cpu_seconds() const;  ///< used so far, of user and system

 private:
  WorkerProcess() = default;
  void start(std::vector<std::string> words);

  pid_t pid_ = -1;
};

/// The argument that makes `main` call `be_worker` with those after it.
inline constexpr const char* worker_argument = "--be-worker";
int be_worker(const std::vector<std::string>& arguments);
inline constexpr const char* hoarder_argument = "--be-hoarder";
int be_hoarder(const std::vector<std::string>& arguments);

}  // namespace holdfast::bench
