#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/results.hpp>
#include <holdfast/transaction_inspector.hpp>

namespace holdfast {

/// The documented JSON of a transaction.
std::string transaction_json(const TransactionRecord& transaction);

/// Everything about one.
struct TransactionSight {
  TransactionRecord transaction{};
  std::vector<LedgerEntry> ledger{};
  std::string ledger_error{};  ///< why it cannot be read, where it is outside of the store
  std::vector<StateMove> moves{};
  std::int64_t moves_before = 0;  ///< how many are not among `moves`
  std::vector<Message> outbox{};
  std::vector<Transition> transitions{};  ///< of its task
  bool is_result() const { return transaction.machine == results::machine_name; }
  results::Progress progress() const { return results::progress_of(transaction, ledger); }
};
/// `most_moves`: only the last ones are read.
std::optional<TransactionSight> look_at(
    const TransactionInspector& inspector, const Inspector& tasks, std::string_view id,
    std::int64_t most_moves = std::numeric_limits<std::int64_t>::max());
/// Of moves and ledger, what fits into so many bytes; `..._left_out` says how many are missing.
std::string transaction_json(const TransactionSight& sight,
                             std::size_t most_bytes = std::numeric_limits<std::size_t>::max());
std::string ledger_json(const LedgerEntry& entry);

}  // namespace holdfast
