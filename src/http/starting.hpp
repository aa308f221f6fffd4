#pragma once

#include <atomic>

#include <holdfast/error.hpp>
#include <holdfast/http/processor.hpp>

namespace holdfast::http {

/// The start of a processor, which runs once. One that could not start, for lack of files for
/// instance, is stopped, and may try again.
class Starting {
 public:
  /// Throws `InvalidRequest` for one that ran.
  Starting(std::atomic<bool>& ran, std::atomic<ProcessorState>& state) : ran_{ran}, state_{state} {
    if (ran_.exchange(true)) throw InvalidRequest{"a processor runs once; make another one"};
    state_ = ProcessorState::starting;
  }
  ~Starting() {
    if (succeeded_) return;
    state_ = ProcessorState::stopped;
    ran_ = false;
  }
  Starting(const Starting&) = delete;
  Starting& operator=(const Starting&) = delete;

  void succeeded() { succeeded_ = true; }

 private:
  std::atomic<bool>& ran_;
  std::atomic<ProcessorState>& state_;
  bool succeeded_ = false;
};

}  // namespace holdfast::http
