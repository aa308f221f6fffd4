#pragma once

#include <mutex>
#include <thread>

#include <holdfast/http/client.hpp>
#include <holdfast/http/processor.hpp>

#include "http/desk.hpp"
#include "http/ending.hpp"
#include "http/lifecycle.hpp"
#include "http/loop.hpp"

namespace holdfast::http {

/// Between a worker, which claims and settles, and the loop, which performs. Threads:
///
///     worker   (see `Worker`) hands attempts out: `take`
///     loop     performs; hands answers to the desk
///     desk     writes what is to be delivered and ends attempts; may wait for a disk, which the
///              loop must not
///
/// And where there are blobs, which may be far away, and which the others must not wait for:
///
///     readers  begin requests that are kept there
///     writers  deliver what goes there, and remove what nobody needs
///     sweeper  looks for what nobody will remove
class Processor::State {
 public:
  State(Engine engine, ProcessorOptions options);
  ~State() { end_threads(); }

  ProcessorSummary run();
  void rest();
  void quiet();
  void stop();
  ProcessorState state() const { return life_.state(); }
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

  void begin_threads();
  void end_threads();
  Tasks handlers();
  WorkerOptions worker_options();
  void take(const std::shared_ptr<OpenAttempt>& attempt);
  void begin(std::shared_ptr<OpenAttempt> attempt);
  Job job_for(const HeldPtr& held) const;
  /// Ends a request that can be read, and not sent from here; if that may pass, the attempt only.
  void refuse(const HeldPtr& held, const std::string& why, bool passing);

  /// Writes down that a request that must not be sent twice may have been sent, and sends it.
  void announce(Held& held, Ticket ticket);
  void end(const HeldPtr& held);
  void conclude(const HeldPtr& held);
  void settle(const HeldPtr& held);
  void deliver(const HeldPtr& held, Ending ending);
  /// Whether delivering it may take as long as writing a blob does.
  bool may_need_blob(const Held& held, const Ending& ending) const;
  /// Without a callback: what is kept with the request itself.
  void seal_result(Held& held, Done& done);
  void sweep_blobs(std::stop_token stop);
  void tell_trouble(const char* doing, const std::exception& error) const;

  Engine engine_;
  ProcessorOptions options_;
  Worker worker_;
  Lifecycle life_;
  std::atomic<int> in_flight_ = 0;
  std::atomic<std::int64_t> answered_ = 0;
  std::atomic<std::int64_t> errors_ = 0;

  Desk desk_;
  Desk readers_;
  Desk writers_;
  std::unique_ptr<Loop> loop_;
  std::jthread sweeper_;
};

}  // namespace holdfast::http
