#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <holdfast/ids.hpp>

namespace holdfast::cli {

using DemoTime = std::chrono::microseconds;  ///< of one clock for all processes of this host
DemoTime demo_now();

/// What happened outside the store, as one worker process saw it: the proof does not rest on what
/// the store says about itself. One file a process, one line an event; a kill tears at most the
/// last line.
class DemoLedger {
 public:
  explicit DemoLedger(const std::string& folder);
  ~DemoLedger();
  DemoLedger(const DemoLedger&) = delete;
  DemoLedger& operator=(const DemoLedger&) = delete;

  void started(TaskId order, Token token) const;
  void charged(TaskId order, Token token, const std::string& charge) const;
  void ended(TaskId order, Token token) const;

 private:
  void write(const char* what, TaskId order, Token token, const std::string& text) const;
  int fd_ = -1;
};

/// One attempt, from all that the ledgers say.
struct DemoAttempt {
  int pid = 0;
  Token token{};
  DemoTime started{};
  bool ended = false;
  std::string charge{};  ///< what the store said was recorded
};

/// The attempts of each order, by the time they started.
std::map<TaskId, std::vector<DemoAttempt>> read_ledgers(const std::string& folder);

}  // namespace holdfast::cli
