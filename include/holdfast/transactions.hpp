#pragma once

#include <boost/describe.hpp>
#include <boost/mp11.hpp>

#include <holdfast/state_machine.hpp>
#include <holdfast/transaction_inspector.hpp>

namespace holdfast {

/// The name under which stores keep a state: that of the enumerator.
template <class State>
std::string state_name(State state) {
  std::string name;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<State>>([&](auto each) {
    if (each.value == state) name = each.name;
  });
  return name;
}

template <class State>
Next go(State state, std::string reason = {}) {
  return Go{state_name(state), std::move(reason)};
}
inline Next stay(Millis delay) { return Wait{delay}; }
inline Next listen(Millis at_most = std::chrono::hours{1}) { return Listen{at_most}; }

/// `Transaction::once` for an effect whose result is a value rather than a text: the ledger has it
/// as JSON, and every call returns what was recorded first. The transaction is held where that does
/// not fit `T`.
template <class T, class Effect>
T once(Transaction& transaction, const std::string& key, Effect&& effect) {
  auto recorded =
      transaction.once(key, [&](const std::string& name) { return to_payload(T(effect(name))); });
  return detail::read_of_transaction<T>(recorded, "ledger entry '" + key + "'");
}

/// Makes a `StateMachine` of an enum that is described by `BOOST_DESCRIBE_ENUM`. Its enumerators
/// are what stores keep, so they must not be renamed while transactions are in them.
template <class State>
class States {
 public:
  struct Rules {
    Millis timeout{0};  ///< see `StateRules`
    std::optional<State> on_timeout{};
    int max_failures = 10;
    std::optional<State> on_failure{};
    Backoff backoff{};
    std::optional<State> on_missing_queue{};
    bool leave_when_sent = false;
    Millis unreadable_after{0};
    std::optional<State> on_unreadable_queue{};
  };

  explicit States(std::string name) { machine_.name = std::move(name); }

  /// Says what happens in a state. The first one that is named is where transactions begin.
  States& on(State state, EnterHandler handler) { return on(state, std::move(handler), Rules{}); }
  States& on(State state, EnterHandler handler, const Rules& rules) {
    auto name = state_name(state);
    if (machine_.initial.empty()) machine_.initial = name;
    auto& entry = machine_.states[name];
    entry.enter = std::move(handler);
    entry.rules = {.timeout = rules.timeout,
                   .on_timeout = name_of(rules.on_timeout),
                   .max_failures = rules.max_failures,
                   .on_failure = name_of(rules.on_failure),
                   .backoff = rules.backoff,
                   .on_missing_queue = name_of(rules.on_missing_queue),
                   .leave_when_sent = rules.leave_when_sent,
                   .unreadable_after = rules.unreadable_after,
                   .on_unreadable_queue = name_of(rules.on_unreadable_queue)};
    return *this;
  }
  /// Says what happens to messages while a transaction listens in a state.
  States& on_messages(State state, QueueNames queues, MessageHandler handler,
                      QueueNames spare_queues = {}) {
    auto& entry = machine_.states[state_name(state)];
    entry.queues = std::move(queues);
    entry.spare_queues = std::move(spare_queues);
    entry.messages = std::move(handler);
    return *this;
  }
  /// Says what happens when a signal of this name comes while a transaction listens in a state.
  /// Signals that come in other states wait for it.
  States& on_signal(State state, const std::string& name, SignalHandler handler) {
    machine_.states[state_name(state)].signals[name] = std::move(handler);
    return *this;
  }
  /// In this state a transaction has completed.
  States& completes(State state) { return ends(state, StateMachine::Role::completes); }
  /// In this state it has failed for good, for the reason that it came there.
  States& fails(State state) { return ends(state, StateMachine::Role::fails); }
  /// For a whole transaction, from when it first ran.
  States& timeout(Millis time, std::optional<State> on_timeout = {}) {
    machine_.timeout = time;
    machine_.on_timeout = name_of(on_timeout);
    return *this;
  }

  /// For messages whose queue is missing; see `StateMachine::send_timeout`.
  States& send_timeout(Millis time, std::optional<State> on_send_timeout = {}) {
    machine_.send_timeout = time;
    machine_.on_send_timeout = name_of(on_send_timeout);
    return *this;
  }

  /// See `StateMachine::kept_queues`.
  States& keeps_queues(std::vector<std::string> queues) {
    machine_.kept_queues = std::move(queues);
    return *this;
  }

  const StateMachine& machine() const { return machine_; }

 private:
  static std::string name_of(std::optional<State> state) {
    return state ? state_name(*state) : std::string{};
  }
  States& ends(State state, StateMachine::Role role) {
    machine_.states[state_name(state)].role = role;
    return *this;
  }

  StateMachine machine_;
};

/// Durable state machines on an engine.
///
///     holdfast::Transactions<Order> orders{engine, "orders"};
///     orders.on(Order::placed, [](holdfast::Transaction& order) {
///       order.once("charge", [&](const std::string& name) { return bank.charge(..., name); });
///       return holdfast::go(Order::paid);
///     });
///     orders.completes(Order::paid);
///     orders.start("order-17", Cart{...});
///     holdfast::run(orders);
template <class State>
class Transactions : public States<State> {
 public:
  Transactions(Engine engine, std::string name)
      : States<State>{std::move(name)}, engine_{std::move(engine)} {}

  /// See `start_transaction`.
  template <class T>
  std::string start(std::string id, const T& input, const StartOptions& options = {}) const {
    return start_transaction(engine_, this->machine().name, std::move(id), to_payload(input),
                             options);
  }

  const Engine& engine() const { return engine_; }

 private:
  Engine engine_;
};

/// Runs `machine` until SIGTERM or SIGINT (drain; a second one hurries). What `main` calls.
WorkerSummary run(const Engine& engine, const StateMachine& machine,
                  const TransactionOptions& options = {});
/// The same until `stop` is requested.
WorkerSummary run(const Engine& engine, const StateMachine& machine, std::stop_token stop,
                  const TransactionOptions& options = {});
template <class State>
WorkerSummary run(const Transactions<State>& transactions, const TransactionOptions& options = {}) {
  return run(transactions.engine(), transactions.machine(), options);
}

}  // namespace holdfast
