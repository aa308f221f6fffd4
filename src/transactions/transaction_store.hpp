#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <holdfast/transaction.hpp>
#include <holdfast/transaction_inspector.hpp>

#include "recovery/leases.hpp"
#include "tasks/stretch.hpp"
#include "transactions/ledger.hpp"

namespace holdfast {

/// What a transaction is beside its task.
struct TransactionRow {
  std::string state;
  std::string reason{};
  std::string data{};   ///< JSON text
  std::string error{};  ///< of the last failure in this state; without one, the last trouble
  int failures = 0;
  WallTime began_at{};
  WallTime entered_at{};
  WallTime progressed_at{};
};

/// A step of a transaction, by whoever holds it. All of it or nothing.
struct Step {
  Lease lease{};
  std::string from{};                  ///< the state that it is in; the first step makes its row
  std::optional<std::string> to{};     ///< the next one; also where it is the same again
  std::string reason{};                ///< of the move
  std::optional<std::string> data{};   ///< what it knows from now on
  std::optional<std::string> error{};  ///< a failure in this state, which is counted
  /// What keeps it from going on and is not its fault, which is not; empty: nothing any more.
  std::optional<std::string> trouble{};
  bool forget_ledger = false;
  std::vector<LedgerEntry> record{};
  /// Lines that are replaced, or removed where their value is empty. They are no progress. Only
  /// `message_attempts.hpp` has such lines.
  std::vector<LedgerEntry> marks{};
  bool progressed = false;  ///< its ledger, which is not here, has new lines
  std::vector<Message> send{};
  std::vector<std::int64_t> sent{};  ///< numbers of the outbox: these are confirmed
};

struct Stepped {
  bool accepted = false;  ///< false: stale, refused; nothing was written
  /// For each entry to record, in order: what the ledger has now.
  std::vector<std::string> recorded{};
};

struct OutboxEntry {
  std::int64_t number = 0;  ///< grows
  Message message{};
};

/// What a transaction has beside its task, on its way to another store.
struct TransactionParcel {
  TaskId id{};
  TransactionRow row{};
  std::vector<LedgerEntry> ledger{};
  std::vector<Message> outbox{};
  std::vector<StateMove> moves{};
};

/// State, ledger and outbox of transactions. A transaction is a task; this is what it has beside
/// that. Every write of its holder names the token of the claim. Where ledgers are kept outside,
/// what is here is one line that says so; see `HeldLedger`.
class TransactionStore {
 public:
  virtual ~TransactionStore() = default;

  /// Each atomic, guarded by its token, and durable when this returns.
  virtual std::vector<Stepped> step(std::span<const Step> steps) = 0;
  Stepped step(const Step& one) { return step(std::span{&one, 1}).front(); }

  /// In the order of `ids`; nothing for those that have not begun.
  virtual std::vector<std::optional<TransactionRow>> find(std::span<const TaskId> ids) = 0;
  /// One line of the ledger; nothing if there is none.
  virtual std::optional<std::string> recorded(TaskId id, const std::string& series,
                                              std::int64_t ordinal) = 0;
  /// All of it, by series and ordinal.
  virtual std::vector<LedgerEntry> ledger(TaskId id, Stretch stretch) = 0;
  std::vector<LedgerEntry> ledger(TaskId id) { return ledger(id, {}); }
  /// What is yet to be sent, oldest first.
  virtual std::vector<OutboxEntry> outbox(TaskId id) = 0;
  /// Oldest first.
  virtual std::vector<StateMove> moves(TaskId id, Stretch stretch) = 0;
  std::vector<StateMove> moves(TaskId id) { return moves(id, {}); }
  /// How many there are.
  virtual std::int64_t move_count(TaskId id) = 0;

  /// A step of a transaction that nobody holds (its task is failed, held or cancelled); `lease` and
  /// `from` are what they are then. False: it is not so, or it has not begun.
  virtual bool put_back(TaskId id, Step step) = 0;
  /// Writes what transactions of another store have, in place of what they have here. One whose
  /// task is not here or is running is left as it is.
  virtual void adopt(std::span<const TransactionParcel> parcels) = 0;

  /// Where ledgers that begin from now on are kept; nothing: here.
  const std::shared_ptr<Ledger>& outside() const { return outside_; }
  void keep_ledgers_in(std::shared_ptr<Ledger> outside) { outside_ = std::move(outside); }

 private:
  std::shared_ptr<Ledger> outside_{};
};

}  // namespace holdfast
