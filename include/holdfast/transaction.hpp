#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <holdfast/broker.hpp>
#include <holdfast/outcome.hpp>
#include <holdfast/payload.hpp>
#include <holdfast/task.hpp>

namespace holdfast {

/// Goes on in another state. The move, what was kept and what was sent become durable in one step.
struct Go {
  std::string state;
  std::string reason{};  ///< why, where it is not the usual way
};
/// Lets go of the transaction and comes back to the same state after `delay`, in this process or
/// another. Takes no thread and no memory meanwhile.
struct Wait {
  Millis delay;
};
/// Keeps the transaction and hands messages of the state's queues to its message handler as they
/// come, without a thread. After `at_most` the state is entered again.
struct Listen {
  Millis at_most;
};
/// What a state's handler returns. `Retry` (or throwing) enters the state again after its back-off;
/// `Fail` goes where the state's rules say.
using Next = std::variant<Go, Wait, Listen, Retry, Fail>;

/// One line of a transaction's ledger: written once, never changed.
struct LedgerEntry {
  std::string series;
  std::int64_t ordinal = 0;
  std::string value{};
  bool operator==(const LedgerEntry&) const = default;
};

/// The ledger of a transaction is kept outside of its store (see `keep_ledgers_in`) and is not
/// there any more: somebody emptied that place, or another one was named. Nothing is believed then,
/// least of all that the ledger is empty; `replace_ledger` or `forget_ledger` begins another one.
class LedgerLost : public Error {
  using Error::Error;
};

namespace detail {

/// Of what the transaction itself has, so that it is held where it does not fit.
template <class T>
T read_of_transaction(const std::string& json, std::string_view what) {
  try {
    return from_payload<T>(json, what);
  } catch (const UnfitPayload& error) {
    throw UnfitTransaction{error.what()};
  }
}

}  // namespace detail

/// A transaction as its handlers see it; valid while one of them runs, in its thread. Everything
/// that is written names the claim's token: whoever lost the transaction gets `LeaseLost`, and
/// nothing is written.
class Transaction {
 public:
  virtual ~Transaction() = default;

  virtual const std::string& id() const = 0;
  virtual const std::string& state() const = 0;
  /// Why it came into this state; empty: in the usual way.
  virtual const std::string& reason() const = 0;
  virtual Token token() const = 0;
  virtual WallTime began_at() const = 0;
  virtual WallTime entered_at() const = 0;     ///< into this state
  virtual WallTime progressed_at() const = 0;  ///< last move or new line of the ledger
  virtual int failures() const = 0;            ///< in a row, in this state
  /// Fires when it should end: cancelled, shut down, or the lease is gone.
  virtual std::stop_token stop_token() const = 0;

  /// What it was started with; never changes. Read as a type that it does not fit, here and in
  /// `data`, it throws `UnfitTransaction`; where a handler lets that pass, the transaction is held.
  virtual const std::string& input_json() const = 0;
  template <class T>
  T input() const {
    return detail::read_of_transaction<T>(input_json(), "input of the transaction");
  }

  /// What it knows, as of the last step that was written (or `keep`).
  virtual const std::string& data_json() const = 0;
  template <class T>
  T data() const {
    return detail::read_of_transaction<T>(data_json(), "data of the transaction");
  }
  /// Changes what it knows. Durable with the next step: a move, `Wait`, `once` or `record`.
  virtual void keep_json(std::string data) = 0;
  template <class T>
  void keep(const T& data) {
    keep_json(to_payload(data));
  }

  /// A message that is sent if and when the next step is durable; after a crash it may be sent
  /// twice, with the same id. It is sent before the handler of the next state runs.
  virtual void send(Message message) = 0;

  /// Runs `effect` unless its result is in the ledger, and records the result. The ledger has one
  /// result for each series and ordinal, whoever comes first, and that one is returned by every
  /// call for ever.
  ///
  /// `effect` itself may run more than once: after a crash between it and the record, or where a
  /// worker that was taken for dead goes on beside its successor. It is given a name that is the
  /// same every time (`id/series/ordinal`): put it to where the effect happens (the name of a file
  /// or a blob that is not overwritten, an idempotency key), and the effect happens once too.
  ///
  /// Where ledgers are kept outside of the store, the same holds, with one difference: a worker
  /// that was taken for dead may still be the first to record a result, until its successor has
  /// first looked at the ledger.
  virtual std::string once(const std::string& series, std::int64_t ordinal,
                           const std::function<std::string(const std::string& name)>& effect) = 0;
  std::string once(const std::string& key,
                   const std::function<std::string(const std::string& name)>& effect) {
    return once(key, 0, effect);
  }
  /// Many results in one step, with what was kept and sent so far. Returns what the ledger has for
  /// each now: the same, or what was there before.
  virtual std::vector<LedgerEntry> record(std::vector<LedgerEntry> entries) = 0;
  /// One line of the ledger; nothing if there is none.
  virtual std::optional<std::string> recorded(const std::string& series, std::int64_t ordinal) = 0;
  /// All of it, by series and ordinal.
  virtual std::vector<LedgerEntry> ledger() = 0;
  /// Removes all of it, in one step with what was kept and sent so far.
  virtual void forget_ledger() = 0;
  /// Puts these lines in the place of all there were, in one step with what was kept and sent so
  /// far: for who can find out anew what a ledger had that was lost.
  virtual void replace_ledger(std::vector<LedgerEntry> entries) = 0;

  /// For the handlers of one state: empty when it is entered, and theirs until it is left.
  virtual std::shared_ptr<void>& memory() = 0;
};

/// A message for a transaction that listens. It is acknowledged when the handler has returned,
/// unless it was rejected; if the handler throws, it comes again.
class Incoming {
 public:
  explicit Incoming(DeliveryPtr delivery) : delivery_{std::move(delivery)} {}
  Delivery& delivery() const { return *delivery_; }
  const DeliveryPtr& pointer() const { return delivery_; }
  /// It makes no sense: becomes a dead letter with this reason.
  void reject(std::string why) { rejected_ = std::move(why); }
  const std::string& rejected() const { return rejected_; }

 private:
  DeliveryPtr delivery_;
  std::string rejected_{};
};

}  // namespace holdfast
