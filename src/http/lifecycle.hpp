#pragma once

#include <atomic>

#include <holdfast/error.hpp>
#include <holdfast/http/processor.hpp>

namespace holdfast::http {

/// The states of a processor: how far it is, and what it was asked for meanwhile. What was asked
/// for is never taken back.
class Lifecycle {
 public:
  /// A processor runs once. One that could not start, for lack of files for instance, is stopped,
  /// and may try again.
  class Run {
   public:
    /// Throws `InvalidRequest` for one that ran.
    explicit Run(Lifecycle& life) : life_{life} {
      if (life_.ran_.exchange(true))
        throw InvalidRequest{"a processor runs once; make another one"};
      life_.reached_ = ProcessorState::starting;
    }
    ~Run() {
      const bool started = life_.reached_ == ProcessorState::running;
      life_.reached_ = ProcessorState::stopped;
      life_.ran_ = started;
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    void started() { life_.reached_ = ProcessorState::running; }

   private:
    Lifecycle& life_;
  };

  void rest() {
    auto nothing = ProcessorState::running;
    asked_.compare_exchange_strong(nothing, ProcessorState::draining);
  }
  void end() { asked_ = ProcessorState::stopping; }

  bool rests() const { return asked_ != ProcessorState::running; }  ///< or ends
  bool ends() const { return asked_ == ProcessorState::stopping; }
  ProcessorState state() const {
    const auto reached = reached_.load();
    return reached == ProcessorState::running ? asked_.load() : reached;
  }

 private:
  std::atomic<bool> ran_ = false;
  std::atomic<ProcessorState> reached_ = ProcessorState::stopped;  // starting, or running
  std::atomic<ProcessorState> asked_ = ProcessorState::running;    // or draining, stopping
};

}  // namespace holdfast::http
