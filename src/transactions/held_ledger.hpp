#pragma once

#include "transactions/transaction_store.hpp"

namespace holdfast {

/// The ledger of a transaction in the hands of its holder, wherever it is kept. Where it begins it
/// stays: in the store if it has lines there, else outside if there is an outside.
///
/// Outside, what is written in which order is:
///
///     begin      an empty ledger is made; then the store is told its name, guarded by the token
///     record     the lines outside; then the rest of the step in the store, guarded by the token
///     replace    another ledger is made, with its lines; then the store is told its name
///     forget     the store forgets the name, guarded by the token; then the ledger is removed
///
/// So a crash between the two leaves a ledger that nobody knows (waste, which is swept), or lines
/// without the rest of their step: they are found recorded when that step is taken again.
class HeldLedger {
 public:
  HeldLedger(TransactionStore& store, Lease lease) : store_{store}, lease_{lease} {}

  std::optional<std::string> recorded(const std::string& series, std::int64_t ordinal);
  std::vector<LedgerEntry> lines();
  /// Takes `step`, whose entries are recorded wherever the ledger is.
  Stepped record(Step step);
  /// The same in place of all that was there before.
  Stepped replace(Step step);
  Stepped forget(Step step);

 private:
  /// The name of the ledger outside; nothing: it is in the store, or there is none yet. Before it
  /// is first said, older holders are shut out. Throws `LeaseLost` if that is us.
  const std::optional<LedgerName>& name();
  const std::optional<LedgerName>& unlocked_name();
  bool begins_outside();
  Stepped begin_with(Step step, bool replaces);
  void remove_if_possible(const LedgerName& name);

  TransactionStore& store_;
  Lease lease_;
  bool known_ = false;     ///< whether it is outside
  bool stays_in_ = false;  ///< it has lines in the store
  bool shut_out_ = false;  ///< older holders are
  std::optional<LedgerName> name_{};
};

/// The line that stands in the store for a ledger outside.
LedgerEntry line_for(const LedgerName& name);

/// Where the ledger of a transaction is, as the store says; nothing: there, or nowhere. Throws
/// `StoreUnusable` where it is outside and nobody has said where that is.
std::optional<LedgerName> outside_ledger(TransactionStore& store, TaskId id);
/// All lines, wherever they are, for who does not hold the transaction.
std::vector<LedgerEntry> read_ledger(TransactionStore& store, TaskId id);
/// A stretch of them, in which lines may be that no handler sees.
std::vector<LedgerEntry> read_ledger(TransactionStore& store, TaskId id, Stretch stretch);
bool is_of_handlers(const LedgerEntry& line);
/// Removes some ledgers outside that no transaction of the store has any more. Returns how many.
std::int64_t remove_stray_ledgers(TransactionStore& store);

}  // namespace holdfast
