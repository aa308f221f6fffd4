#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

#include <holdfast/state_machine.hpp>

#include "recovery/transaction_notes.hpp"
#include "tasks/engine_parts.hpp"
#include "transactions/live_transaction.hpp"
#include "transactions/sick_queues.hpp"

namespace holdfast {

/// Between a worker, which claims and settles, and the handlers of states. Threads:
///
///     worker    (see `Worker`) hands attempts out: `begin`
///     handlers  a few; each takes the next transaction that has something to do: `turn`
///     mover     writes the moves of all transactions that come to their next state: `write_moves`
///     listener  receives messages for all transactions that listen, and minds their times
///
/// One transaction has one turn at a time, so its handlers never run beside each other.
class TransactionRunner::Impl {
 public:
  Impl(Engine engine, StateMachine machine, TransactionOptions options);

  WorkerSummary run();
  void drain();
  void hurry();

 private:
  using Clock = std::chrono::steady_clock;

  struct Held {
    explicit Held(LiveTransaction live) : transaction{std::move(live)} {}
    LiveTransaction transaction;        ///< of the turn
    bool entered = false;               ///< of the turn
    int recoveries = 0;                 ///< of the turn: how often it was taken back
    int crashes = 0;                    ///< of the turn: those that it was charged with
    std::vector<std::string> queues{};  ///< of the turn: those listened to
    std::set<std::string> spare{};      ///< those of them without which it can be; of the turn
    /// Where it goes when its turn is over. The next turn begins there when that is written, or
    /// with what went wrong.
    std::optional<Go> going{};
    std::exception_ptr did_not_go{};
    std::optional<std::stop_callback<std::function<void()>>> on_stop{};

    // Guarded by the mutex of the runner.
    bool busy = false;     ///< has a turn, or waits for one
    bool stop = false;     ///< somebody wants it to end
    bool wake = false;     ///< has listened for long enough
    bool missing = false;  ///< a queue of it is gone
    /// What the broker says about each queue of it that cannot be read.
    std::map<std::string, std::string> unreadable{};
    bool news_of_queues = false;                               ///< about these
    std::set<std::string> sick{};                              ///< these, and spare ones
    Clock::time_point gives_up_at = Clock::time_point::max();  ///< if they are not better by then
    std::vector<DeliveryPtr> inbox{};
    Clock::time_point wakes_at{};      ///< it has listened for long enough then; zero: it does not
    Clock::time_point looked_at_at{};  ///< when the listener will look at that; zero: it will not
  };
  using HeldPtr = std::shared_ptr<Held>;
  /// What a turn is about.
  struct News {
    bool stop = false;
    bool wake = false;
    bool missing = false;
    bool queues = false;  ///< what is known about its queues has changed
    std::vector<DeliveryPtr> messages{};
  };

  Tasks handlers();
  void begin(std::shared_ptr<OpenAttempt> attempt);
  void schedule(const HeldPtr& held);  ///< with the mutex held
  void ask_to_stop(const HeldPtr& held);

  // What was taken back from others.
  /// Takes back what dead workers had, before anything else, and says how many there were.
  void look_for_recoverable();
  void note_recoveries(std::span<const HeldPtr> some, const std::vector<TaskId>& ids);
  /// Once for each time that it was taken back, wherever it continues. Returns whether it told.
  bool tell_if_recovered(const Held& held);
  void tell_of(const Held& held, TransactionNote note, std::string_view detail = {}) const;

  // Handlers.
  void work(std::stop_token stop);
  /// Reads where those stand that wait for their first turn, all with one question.
  void read_ahead(const HeldPtr& first);
  void turn(const HeldPtr& held);
  void take_turn(const HeldPtr& held, News news);
  Next first_step(Held& held);
  /// With what its handlers remember where it has only listened for long enough.
  Next enter(Held& held, bool remembers = false);
  /// Hands over the first of them that may go together; the others wait for the next turn.
  Next hand_over(Held& held, std::vector<DeliveryPtr> deliveries);
  Next hand_over_group(Held& held, const std::vector<DeliveryPtr>& group);
  std::vector<DeliveryPtr> first_group(Held& held, std::vector<DeliveryPtr> deliveries);
  /// How many of them may be handed over together.
  std::size_t group_size(const Held& held, const std::vector<DeliveryPtr>& deliveries) const;
  static bool may_have_failed(const Held& held, const Delivery& delivery);
  /// Why it becomes a dead letter; empty: it does not.
  std::string failed_too_often(const MessageAttempts& attempts) const;
  void bury(const Held& held, const DeliveryPtr& delivery, const std::string& why);
  Next call(Held& held, const std::function<Next()>& handler);
  /// Where to go if it has taken too long.
  std::optional<Next> overdue(const Held& held) const;
  Millis time_left(const Held& held) const;
  /// Sends what the outbox has; throws where that cannot be done now. Where it cannot and time is
  /// over, the messages are given up, and it goes where its time limit says: a queue that does not
  /// exist must not keep a transaction for ever.
  using TakeOut = LiveTransaction::TakeOut;
  std::optional<Next> flush(Held& held, TakeOut when = TakeOut::now);
  void send_outbox(Held& held, TakeOut when);
  /// Declares queues of the machine that are gone; whether any was.
  bool brought_back_queues(const Held& held);
  /// Where to go if the queue of a message has been missing for too long.
  std::optional<Next> unsent_for_too_long(const Held& held) const;
  /// How long to wait for a queue that does not exist: longer each time.
  Millis until_the_queue_is_there(const Held& held);
  void go_on(const HeldPtr& held, Next next);
  /// One step of that; nothing: it rests.
  std::optional<Next> follow(const HeldPtr& held, const Next& next);
  Next arrive(Held& held);
  void record_move(Held& held, const Go& go);
  void tell_of_move(const Held& held, const std::string& from, const Go& go);
  std::optional<Next> fail_once(Held& held, const Retry& retry);
  std::optional<Next> fail_for_good(Held& held, const std::string& reason);
  std::optional<Next> listen(const HeldPtr& held, Millis at_most);
  void end(Held& held, Outcome outcome);
  bool knows_state(const Held& held) const {
    return machine_.states.contains(held.transaction.state());
  }
  const StateMachine::State& state_of(const Held& held) const;
  WallTime now() const { return engine_.parts().clock().wall(); }

  // Mover.
  void write_moves(std::stop_token stop);
  void write_together(std::span<const HeldPtr> moves);

  // Listener.
  void hear(std::stop_token stop);
  void distribute(Consumer::News news);
  void note_unreadable(const std::string& queue, const std::string& why);
  void listen_to_spare(const std::string& queue);
  std::vector<std::string> queues_of(const Held& held) const;
  void say_what_is_unreadable(Held& held);
  std::optional<Next> gives_up_queue(const HeldPtr& held);
  void tell_of_queue(const Held& held, const std::string& queue, QueueWatched::Change change,
                     const std::string& why = {});

  // Signals.
  bool takes_signals() const { return !signal_names_.empty(); }
  void declare_signal_queues(const Held& held);
  void remove_signal_queues(Held& held);
  /// Nothing: the message is not a signal.
  std::optional<Next> take_signal(Held& held, const DeliveryPtr& delivery);
  void wake_those_due();
  void mind(const HeldPtr& held);  ///< with the mutex held
  Millis until_next_wake();
  void stop_listening(Held& held);
  void trouble(const char* what, const std::exception& error) const;
  static void say_trouble(Held& held, const std::exception& error);

  Engine engine_;
  StateMachine machine_;
  const std::vector<std::string> signal_names_ = machine_.signal_names();
  TransactionOptions options_;
  SickQueues sick_;
  TransactionStore& store_;
  Worker worker_;
  std::atomic<bool> ran_ = false;
  std::unique_ptr<Consumer> consumer_;

  std::mutex mutex_;  // guards everything below
  std::condition_variable_any ready_changed_;
  std::deque<HeldPtr> ready_;
  std::condition_variable_any moves_changed_;
  std::deque<HeldPtr> moves_;
  std::unordered_map<TaskId, HeldPtr> held_;
  std::unordered_map<std::string, HeldPtr> by_queue_;
  std::multimap<Clock::time_point, std::weak_ptr<Held>> wakes_;
  /// Also while the transaction takes a rest in between.
  std::map<std::string, Clock::time_point> unreadable_since_;
  std::unordered_map<TaskId, int> queue_missed_;  ///< how often in a row it could not send
  std::unordered_map<TaskId, int> recoveries_told_;
  bool draining_ = false;
};

}  // namespace holdfast
