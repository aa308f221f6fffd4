#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <holdfast/transaction.hpp>

namespace holdfast {

/// One ledger outside of the store. A transaction that begins another one gives it another name, so
/// whoever is late with writing to the old one, or with removing it, does not find the new one.
struct LedgerName {
  TaskId task{};
  std::string beginning{};

  static LedgerName make(TaskId task) { return {task, TaskId::make().text()}; }
  std::string text() const { return task.text() + "-" + beginning; }
  static std::optional<LedgerName> parse(std::string_view text);
  bool operator==(const LedgerName&) const = default;
};

/// Ledgers outside of the store that has the transactions. It cannot compare the token of a task,
/// so it keeps the greatest that it was shown with each ledger, and refuses smaller ones: whoever
/// lost a transaction can write until the next holder has looked at its ledger, and never after.
///
/// Which ledger a transaction has is said in the store. One that is not named there is waste.
class Ledger {
 public:
  virtual ~Ledger() = default;

  struct Recorded {
    std::vector<std::string> values{};  ///< for each entry, in order: what the ledger has now
    bool grown = false;                 ///< at least one of them is new
  };

  /// Makes an empty ledger; durable when this returns. Throws `StoreUnusable` where less would be
  /// kept than is asked for.
  virtual void begin(const LedgerName& name, Token token) = 0;
  /// Adds what is not there yet, all or nothing, durable when this returns; what is there stays.
  /// From then on smaller tokens are refused. Without entries it only does that. Nothing: this
  /// token is refused. Throws `LedgerLost`.
  virtual std::optional<Recorded> record(const LedgerName& name, Token token,
                                         std::span<const LedgerEntry> entries) = 0;
  /// One line; nothing if there is none. Throws `LedgerLost`.
  virtual std::optional<std::string> recorded(const LedgerName& name, const std::string& series,
                                              std::int64_t ordinal) = 0;
  /// All of it, by series and ordinal. Throws `LedgerLost`.
  virtual std::vector<LedgerEntry> lines(const LedgerName& name) = 0;
  /// It need not be there.
  virtual void remove(const LedgerName& name) = 0;
  /// Some of this store that nobody has asked for in this way within the last hour, and that were
  /// begun before: to see whether they are still wanted.
  virtual std::vector<LedgerName> to_look_at(int most) = 0;
  /// For messages, without secrets.
  virtual std::string name() const = 0;
};

}  // namespace holdfast
