#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <holdfast/http/client.hpp>
#include <holdfast/http/processor.hpp>

#include "http/ending.hpp"
#include "http/loop.hpp"

namespace holdfast::http {

/// Between a worker, which claims and settles, and the loop, which performs. Threads:
///
///     worker   (see `Worker`) hands attempts out: `begin`
///     loop     performs; hands answers to the desk
///     desk     writes what is to be delivered and ends attempts; may wait for a disk, which the
///              loop must not
class Processor::State {
 public:
  State(Engine engine, ProcessorOptions options);

  ProcessorSummary run();
  void quiet();
  void stop();
  ProcessorState state() const { return state_; }
  int in_flight() const { return in_flight_; }

 private:
  /// One request between its claim and its settlement.
  struct Held {
    std::shared_ptr<OpenAttempt> attempt;
    Request request{};
    std::string blob{};  ///< where the request was kept
    Answer answer{};
    bool announced = false;            ///< the store knows that this attempt may have sent it
    std::optional<Outcome> instead{};  ///< why it was not sent
    std::mutex mutex{};  ///< guards the one below: the answer may be there before it is
    std::optional<std::stop_callback<std::function<void()>>> on_stop{};
  };
  using HeldPtr = std::shared_ptr<Held>;

  Tasks handlers();
  WorkerOptions worker_options();
  void begin(std::shared_ptr<OpenAttempt> attempt);
  Job job_for(const HeldPtr& held) const;
  /// Ends a request that can be read, and not sent from here; if that may pass, the attempt only.
  void refuse(const HeldPtr& held, const std::string& why, bool passing);

  void work_at_desk(std::stop_token stop);
  void put_on_desk(std::function<void()> work);
  /// Writes down that a request that must not be sent twice may have been sent, and sends it.
  void announce(Held& held, Ticket ticket);
  void end(Held& held);
  void conclude(Held& held);
  void settle(Held& held);
  void deliver(Held& held, Ending ending);
  void sweep_blobs();

  Engine engine_;
  ProcessorOptions options_;
  Worker worker_;
  std::atomic<bool> ran_ = false;
  std::atomic<ProcessorState> state_ = ProcessorState::stopped;
  std::atomic<int> in_flight_ = 0;
  std::atomic<std::int64_t> answered_ = 0;
  std::atomic<std::int64_t> errors_ = 0;

  std::mutex mutex_;  // guards the desk
  std::condition_variable_any desk_filled_;
  std::deque<std::function<void()>> desk_;
  std::unique_ptr<Loop> loop_;
  std::jthread desk_thread_;
};

}  // namespace holdfast::http
