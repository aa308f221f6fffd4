#pragma once

#include <map>

#include <holdfast/tasks.hpp>

#include "transactions/held_ledger.hpp"
#include "transactions/message_attempts.hpp"
#include "transactions/start.hpp"

namespace holdfast {

/// A transaction that this process holds.
class LiveTransaction final : public Transaction {
 public:
  LiveTransaction(std::shared_ptr<OpenAttempt> attempt, TransactionStore& store,
                  std::string initial);

  const std::string& id() const override { return words_.id; }
  const std::string& state() const override { return row_.state; }
  const std::string& reason() const override { return row_.reason; }
  Token token() const override { return attempt_->token(); }
  WallTime began_at() const override { return row_.began_at; }
  WallTime entered_at() const override { return row_.entered_at; }
  WallTime progressed_at() const override { return row_.progressed_at; }
  int failures() const override { return row_.failures; }
  std::stop_token stop_token() const override { return attempt_->stop_token(); }
  const std::string& input_json() const override { return words_.input; }
  const std::string& data_json() const override { return kept_ ? *kept_ : row_.data; }
  void keep_json(std::string data) override;
  void send(Message message) override;
  std::string once(const std::string& series, std::int64_t ordinal,
                   const std::function<std::string(const std::string& name)>& effect) override;
  std::vector<LedgerEntry> record(std::vector<LedgerEntry> entries) override;
  std::optional<std::string> recorded(const std::string& series, std::int64_t ordinal) override {
    return ledger_.recorded(series, ordinal);
  }
  std::vector<LedgerEntry> ledger() override { return ledger_.lines(); }
  void forget_ledger() override;
  void replace_ledger(std::vector<LedgerEntry> entries) override;
  std::shared_ptr<void>& memory() override { return memory_; }

  OpenAttempt& attempt() const { return *attempt_; }

  /// Where it stands according to the store; nothing: it has not begun. Whoever holds it is the
  /// only one who changes that, so it may have been read a while ago.
  void set_row(std::optional<TransactionRow> row);
  bool has_row() const { return known_; }
  /// Reads where it stands, unless that is known; `now` is when it begins, if it has not. Returns
  /// whether it had.
  bool load(WallTime now);
  void move(const std::string& to, const std::string& reason, WallTime now);
  /// The same in three parts, for who writes the moves of many at once: what to write, what it
  /// means that it was refused, and that it was done.
  Step move_step(const std::string& to, const std::string& reason) const;
  LeaseLost lost() const;
  void moved(const std::string& to, const std::string& reason, WallTime now);
  void count_failure(const std::string& error);
  /// Something that it needs is away or refuses it; said once, and not counted.
  void say_trouble(const std::string& what);
  /// It went on; a failure that was counted stays until it moves.
  void trouble_is_over();
  /// What is known about handing over a message, by its line; see `MessageAttempts`.
  MessageAttempts attempts(std::int64_t line) const;
  /// Durable with the next step, whenever that is.
  void note_attempts(std::int64_t line, const MessageAttempts& attempts);
  /// Durable when this returns.
  void write_attempts(std::int64_t line, const MessageAttempts& attempts);
  /// The attempt is not counted after all; durable if the store can be reached. What the handler
  /// kept and sent did not happen.
  void take_back_attempt(std::int64_t line, const MessageAttempts& attempts);
  /// Makes what was kept and sent durable, if anything was, or if it has no row yet.
  void settle_down();
  /// Publishes what is in the outbox and takes it out when that is confirmed: now, or with the next
  /// step.
  enum class TakeOut { now, with_next_step };
  void send_outbox(Broker* broker, TakeOut when = TakeOut::now);
  /// Gives up what is in the outbox: the next step takes it out unsent. Returns how many.
  std::size_t abandon_outbox();

 private:
  Step filled(Step step) const;
  /// Throws if the step was refused.
  Stepped accepted(Stepped stepped);
  Stepped write(Step step) { return accepted(store_.step(filled(std::move(step)))); }
  void wrote();

  std::shared_ptr<OpenAttempt> attempt_;
  TransactionStore& store_;
  HeldLedger ledger_;
  StartWords words_;
  std::string initial_;
  TransactionRow row_{};
  bool known_ = false;  ///< where it stands
  bool begun_ = false;
  bool unsent_ = true;  ///< there may be something in the outbox
  std::optional<std::string> kept_{};
  std::vector<Message> out_{};
  std::map<std::int64_t, std::string> noted_{};  ///< lines of messages
  std::vector<std::int64_t> taken_out_{};        ///< of the outbox, by the next step
  std::shared_ptr<void> memory_{};
};

}  // namespace holdfast
