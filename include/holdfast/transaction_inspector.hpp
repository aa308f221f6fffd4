#pragma once

#include <optional>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>
#include <holdfast/transaction.hpp>

namespace holdfast {

/// A transaction as it stands in the store.
struct TransactionRecord {
  std::string id;
  std::string machine;
  TaskRecord task{};    ///< who has it, whether it runs, its attempts
  std::string state{};  ///< empty: it has not begun
  std::string reason{};
  std::string data{};  ///< JSON text
  std::string input{};
  std::string error{};  ///< of the last failure in this state; without one, the last trouble in it
  int failures = 0;
  std::optional<WallTime> began_at{};
  std::optional<WallTime> entered_at{};
  std::optional<WallTime> progressed_at{};
};

/// A move from one state to another.
struct StateMove {
  std::string from;
  std::string to;
  std::string reason;
  Token token{};
  WallTime at{};
};

/// The end of a history, oldest first.
struct LastMoves {
  std::vector<StateMove> moves{};
  std::int64_t before = 0;  ///< how many there are before these
};

struct TransactionFilter {
  std::string machine{};
  std::vector<TaskState> states{};  ///< of their tasks
};

/// Looks at transactions and acts on them.
class TransactionInspector {
 public:
  explicit TransactionInspector(Engine engine, std::string actor = "operator")
      : engine_{engine}, tasks_{std::move(engine), std::move(actor)} {}

  std::optional<TransactionRecord> find(std::string_view id) const;
  std::vector<TransactionRecord> list(const TransactionFilter& filter, TaskPage page = {}) const;
  std::vector<StateMove> moves(std::string_view id) const;
  /// The last `most` of them.
  LastMoves last_moves(std::string_view id, std::int64_t most) const;
  std::vector<LedgerEntry> ledger(std::string_view id) const;
  /// Messages that are yet to be sent.
  std::vector<Message> outbox(std::string_view id) const;

  /// See `Inspector::cancel`. False: nothing could be cancelled.
  bool cancel(std::string_view id, bool force = false);
  /// Runs a failed, held or cancelled transaction again, from `state` or, if that is empty, from
  /// the state that it was in if that is not an end, else from its first one. Its ledger stays.
  bool retry(std::string_view id, const std::string& state = {});
  /// A failed, held or cancelled transaction stays what it is, but begins in its first state if it
  /// is ever retried, with this data and an empty ledger. False: it is not so, or has not begun.
  bool start_over(std::string_view id, const std::string& data_json);
  /// Removes some ledgers outside of the store (see `keep_ledgers_in`) that none of its
  /// transactions has any more; returns how many. To be called now and then.
  std::int64_t remove_stray_ledgers() const;

 private:
  Engine engine_;
  Inspector tasks_;
};

}  // namespace holdfast
