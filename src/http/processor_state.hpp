#pragma once

#include <mutex>
#include <thread>

#include <holdfast/http/client.hpp>
#include <holdfast/http/processor.hpp>

#include "http/desk.hpp"
#include "http/ending.hpp"
#include "http/lifecycle.hpp"
#include "http/loop.hpp"
#include "http/owner.hpp"
#include "http/pauses.hpp"
#include "recovery/patient.hpp"

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
///     pauses   has what could not be delivered, and gives it to the writers again
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
    /// The same at every try, so that a blob is known that is there already.
    std::optional<TaskId> delivered_as{};  ///< the callback's task
    std::string delivered_in{};            ///< the blob, if it becomes one
    Millis pause{0};                       ///< before the next try
    std::mutex mutex{};  ///< guards those below: the answer may be there before they are
    std::optional<std::stop_callback<std::function<void()>>> on_stop{};
    std::optional<Ending> undelivered{};  ///< waits for that
    std::string why_undelivered{};
  };
  using HeldPtr = std::shared_ptr<Held>;

  void begin_threads();
  void end_threads();
  Tasks handlers();
  WorkerOptions worker_options();
  void take(const std::shared_ptr<OpenAttempt>& attempt);
  void begin(std::shared_ptr<OpenAttempt> attempt);
  Job job_for(const HeldPtr& held) const;
  /// Ends a request that can be read, and not sent from here.
  void refuse(const HeldPtr& held, const std::string& why);

  /// Writes down that a request that must not be sent twice may have been sent, and sends it.
  void announce(Held& held, Ticket ticket);
  void end(const HeldPtr& held);
  void conclude(const HeldPtr& held);
  void settle(const HeldPtr& held);
  void deliver(const HeldPtr& held, Ending ending);
  /// Encrypts what is delivered, or is the result, and puts it elsewhere. May throw, and be called
  /// again.
  void seal(Held& held, Ending& ending);
  /// Then that is what the callback is told; if it cannot be told anything, the request fails.
  void cannot_keep(const HeldPtr& held, const std::string& why);
  /// The request was answered, and is not sent again because blobs are away: the answer stays here
  /// until they are back, or until it has to end.
  void wait_for_blobs(const HeldPtr& held, Ending ending, const Error& error);
  void deliver_again(const HeldPtr& held);
  /// Whether delivering it may take as long as writing a blob does.
  bool may_need_blob(const Held& held, const Ending& ending) const;
  void sweep_blobs(std::stop_token stop);
  /// Once in a while: when blobs are away, everybody meets the same.
  void tell_trouble(const char* doing, const std::exception& error);

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
  Pauses pauses_;
  Patient patient_;
  UnboundWarning unbound_{engine_};
  std::unique_ptr<Loop> loop_;
  std::jthread sweeper_;
};

}  // namespace holdfast::http
