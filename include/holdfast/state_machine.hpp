#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/broker.hpp>
#include <holdfast/engine.hpp>
#include <holdfast/transaction.hpp>
#include <holdfast/worker.hpp>

namespace holdfast {

/// Runs when a state is entered, and anew whenever the transaction is resumed in it: after a crash,
/// a `Wait`, a failure. So it must be able to begin from the beginning; `once` keeps it from doing
/// things again. After a `Listen` for `at_most` it runs with the `memory` that it had, which is
/// empty else.
using EnterHandler = std::function<Next(Transaction&)>;
/// Runs when messages have come for a transaction that listens; several at once if they are there.
/// `Listen` goes on listening.
using MessageHandler = std::function<Next(Transaction&, std::span<Incoming>)>;
/// The queues of a transaction in a state. They must be there.
using QueueNames = std::function<std::vector<std::string>(const Transaction&)>;

/// Something that a transaction is told from outside, such as an approval; see
/// `signal_transaction`.
struct Signal {
  std::string name;
  std::string json;
  template <class T>
  T value() const {
    return from_payload<T>(json, "signal '" + name + "'");
  }
};
/// Runs when a signal has come for a transaction that listens: one at a time, in the order in which
/// those of one name were sent. After a crash it may run again; `once` keeps it from doing things
/// again.
using SignalHandler = std::function<Next(Transaction&, const Signal&)>;

struct StateRules {
  Millis timeout{0};         ///< in this state, however often it is resumed; 0: none
  std::string on_timeout{};  ///< where it goes then; empty: where a failure goes
  int max_failures = 10;     ///< in a row; one more is final
  std::string on_failure{};  ///< where it goes then; empty: it fails for good
  Backoff backoff{};         ///< between failures
  /// Where it goes when a queue that it is to listen to is not there; empty: that is a failure.
  std::string on_missing_queue{};
  /// It is left when the broker has confirmed what was sent in it, which is durable before. Until
  /// then time limits hold as in any state. Else messages are sent in the next state.
  bool leave_when_sent = false;
  Millis unreadable_after{0};  ///< that one of its queues could not be read; 0: it waits for ever
  std::string on_unreadable_queue{};  ///< where it goes then
};

/// States by name, and what happens in them. `Transactions` makes one from an enum.
struct StateMachine {
  enum class Role { working, completes, fails };
  struct State {
    Role role = Role::working;
    EnterHandler enter{};
    MessageHandler messages{};
    QueueNames queues{};
    /// Messages of these are taken, too, as far as they are there and can be read; that they are
    /// not leads nowhere.
    QueueNames spare_queues{};
    std::map<std::string, SignalHandler> signals{};  ///< by their names
    StateRules rules{};
  };

  std::string name;     ///< also the queue of its tasks
  std::string initial;  ///< where every transaction begins
  std::map<std::string, State> states{};
  Millis timeout{0};         ///< of a whole transaction, from when it first ran; 0: none
  std::string on_timeout{};  ///< where it goes then; empty: it fails for good
  /// How long the queue of a message that it sent may be missing, from when it came into its state;
  /// then the message is given up. 0: until another limit ends.
  Millis send_timeout{0};
  std::string on_send_timeout{};  ///< where it goes then; empty: it fails for good
  /// Queues that all transactions send to. One of them that is gone is declared again when a
  /// message is sent to it.
  std::vector<std::string> kept_queues{};

  /// The names of the signals that any of its states takes.
  std::vector<std::string> signal_names() const;
  /// The state in which a transaction fails for good; empty: there is none, and it fails where it
  /// is.
  std::string failing() const;
  /// Throws `InvalidRequest` naming what is missing: a handler, or a state that is gone to.
  void validate() const;
};

struct TransactionOptions {
  int threads = 0;                   ///< handlers at once, which mostly wait; 0: 16
  int capacity = 1'000;              ///< transactions held at once, those that listen included
  std::shared_ptr<Broker> broker{};  ///< for messages in and out
  ConsumerOptions consumer{};
  /// A message becomes a dead letter when its handler has failed so often with it ...
  int message_failures = 5;
  /// ... or when the process has crashed so often while it was handled: by a fatal signal or for
  /// its memory, with nothing else to blame. Being killed from outside, and how often the broker
  /// delivered it, do not matter.
  int message_deaths = 2;
  bool until_empty = false;  ///< return when nothing is left that could run
};

/// From now on, transactions of this engine that begin a ledger keep it in a Redis server
/// (`redis://HOST:PORT?prefix=NAME`) instead of the store. Every process that runs them or looks at
/// them has to say the same. One that has begun its ledger stays with it, wherever that is.
///
/// The server has to sync what it acknowledges (`appendfsync always`); one that does not is
/// refused, unless the address says that less is expected (`?durability=crash-safe`).
/// docs/transactions.md says what is guaranteed. Throws `ConfigError` for an address that makes no
/// sense. `Stay::brief` asks nothing of the server before it is needed.
void keep_ledgers_in(const Engine& engine, std::string_view address, Stay stay = Stay::lasting);

/// Runs the transactions of one machine in this process: recovers what others left, claims, and
/// watches for deaths, as a `Worker` does. Two processes never run one transaction.
class TransactionRunner {
 public:
  TransactionRunner(Engine engine, StateMachine machine, TransactionOptions options = {});
  ~TransactionRunner();
  TransactionRunner(const TransactionRunner&) = delete;
  TransactionRunner& operator=(const TransactionRunner&) = delete;

  /// Works until `drain` or `hurry` was asked for. Runs once; throws `Error` the second time.
  WorkerSummary run();
  /// Claims nothing more, lets handlers finish and gives the rest back, listeners at once.
  void drain();
  /// Like `drain`, but stops handlers now.
  void hurry();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

struct StartOptions {
  Millis delay{0};  ///< run no sooner than this from now
  int priority = 3;
};

/// The kind of the tasks that transactions are.
inline constexpr const char* transaction_kind = "holdfast.tx";

/// The task that a transaction of this id is. The id is a ULID, which is that of the task, or
/// anything else of 1 to 100 letters, digits, `-`, `_` and `.`, not beginning with a dot.
/// Throws `InvalidRequest` for what is not one.
TaskId transaction_task(std::string_view id);

/// Starts a transaction; durable when it returns. The same id and input again is the same
/// transaction, so a start whose answer was lost can be repeated; another input is an error.
/// An empty id is made up. Returns the id.
std::string start_transaction(const Engine& engine, const std::string& machine, std::string id,
                              std::string input_json, const StartOptions& options = {});

/// The queue in which the signals of one name wait for a transaction.
std::string signal_queue(std::string_view id, std::string_view name);

/// Sends a signal to a transaction that has begun and not ended: durable when this returns, and
/// handled when the transaction listens in a state that takes signals of this name. Throws
/// `InvalidRequest` where it has not begun, has ended, or takes none of this name in any state.
/// `broker` is the one with which it runs.
void signal_transaction(const Engine& engine, Broker& broker, const std::string& id,
                        const std::string& name, const std::string& json = "null");

}  // namespace holdfast
