#include "transactions/live_transaction.hpp"

#include <array>

#include <fmt/format.h>

#include "recovery/kill_point.hpp"

namespace holdfast {

LiveTransaction::LiveTransaction(std::shared_ptr<OpenAttempt> attempt, TransactionStore& store,
                                 std::string initial)
    : attempt_{std::move(attempt)},
      store_{store},
      ledger_{store, {attempt_->task(), attempt_->token()}},
      words_{parse_start(attempt_->payload())},
      initial_{std::move(initial)} {}

void LiveTransaction::set_row(std::optional<TransactionRow> row) {
  known_ = true;
  begun_ = unsent_ = row.has_value();
  if (row) row_ = std::move(*row);
}

bool LiveTransaction::load(WallTime now) {
  if (!known_) {
    std::array ids{attempt_->task()};
    set_row(std::move(store_.find(ids).front()));
  }
  if (!begun_)
    row_ = {.state = initial_,
            .data = "null",
            .began_at = now,
            .entered_at = now,
            .progressed_at = now};
  return begun_;
}

Step LiveTransaction::filled(Step step) const {
  step.lease = {attempt_->task(), attempt_->token()};
  step.from = row_.state;
  step.data = kept_;
  step.send = out_;
  for (const auto& [line, value] : noted_) step.marks.push_back({attempts_series, line, value});
  step.sent.insert(step.sent.end(), taken_out_.begin(), taken_out_.end());
  return step;
}

LeaseLost LiveTransaction::lost() const {
  return LeaseLost{fmt::format(
      "transaction {} is not held by this worker any more: nothing was written", words_.id)};
}

void LiveTransaction::wrote() {
  begun_ = true;
  unsent_ = unsent_ || !out_.empty();
  taken_out_.clear();
  if (kept_) row_.data = std::move(*kept_);
  kept_.reset();
  out_.clear();
  noted_.clear();
}

Stepped LiveTransaction::accepted(Stepped stepped) {
  if (!stepped.accepted) throw lost();
  wrote();
  return stepped;
}

void LiveTransaction::keep_json(std::string data) {
  parse_json(data);
  kept_ = std::move(data);
}

void LiveTransaction::send(Message message) {
  if (message.id.empty()) message.id = TaskId::make().text();
  out_.push_back(std::move(message));
}

std::string LiveTransaction::once(
    const std::string& series, std::int64_t ordinal,
    const std::function<std::string(const std::string& name)>& effect) {
  if (auto found = recorded(series, ordinal)) return *found;
  auto value = effect(fmt::format("{}/{}/{}", words_.id, series, ordinal));
  return record({{series, ordinal, std::move(value)}}).front().value;
}

std::vector<LedgerEntry> LiveTransaction::record(std::vector<LedgerEntry> entries) {
  auto stepped = accepted(ledger_.record(filled({.record = entries})));
  row_.progressed_at = std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
  for (std::size_t i = 0; i < entries.size(); ++i)
    entries[i].value = std::move(stepped.recorded[i]);
  return entries;
}

void LiveTransaction::forget_ledger() { accepted(ledger_.forget(filled({}))); }

void LiveTransaction::replace_ledger(std::vector<LedgerEntry> entries) {
  accepted(ledger_.replace(filled({.record = std::move(entries)})));
}

Step LiveTransaction::move_step(const std::string& to, const std::string& reason) const {
  return filled({.to = to, .reason = reason});
}

void LiveTransaction::moved(const std::string& to, const std::string& reason, WallTime now) {
  wrote();
  row_.state = to;
  row_.reason = reason;
  row_.error.clear();
  row_.failures = 0;
  row_.entered_at = row_.progressed_at = now;
}

void LiveTransaction::move(const std::string& to, const std::string& reason, WallTime now) {
  if (!store_.step(move_step(to, reason)).accepted) throw lost();
  moved(to, reason, now);
}

void LiveTransaction::count_failure(const std::string& error) {
  // What the handler kept and sent before it failed did not happen.
  kept_.reset();
  out_.clear();
  write({.error = error});
  row_.error = error;
  ++row_.failures;
}

void LiveTransaction::say_trouble(const std::string& what) {
  if (row_.error == what) return;
  // Whatever the turn had kept and sent did not happen.
  kept_.reset();
  out_.clear();
  write({.trouble = what});
  row_.error = what;
}

void LiveTransaction::trouble_is_over() {
  if (row_.failures == 0 && !row_.error.empty()) say_trouble("");
}

void LiveTransaction::settle_down() {
  if (kept_ || !out_.empty() || !begun_) write({});
}

MessageAttempts LiveTransaction::attempts(std::int64_t line) const {
  if (auto at = noted_.find(line); at != noted_.end()) return MessageAttempts::parse(at->second);
  auto noted = store_.recorded(attempt_->task(), attempts_series, line);
  return noted ? MessageAttempts::parse(*noted) : MessageAttempts{};
}

void LiveTransaction::note_attempts(std::int64_t line, const MessageAttempts& attempts) {
  noted_[line] = attempts.text();
}

void LiveTransaction::write_attempts(std::int64_t line, const MessageAttempts& attempts) {
  note_attempts(line, attempts);
  write({});
}

void LiveTransaction::take_back_attempt(std::int64_t line, const MessageAttempts& attempts) {
  kept_.reset();
  out_.clear();
  note_attempts(line, attempts);
  try {
    write({});
  } catch (const StoreError&) {
    // The store is away, too. While it is, no further attempt begins, so this counts once.
  } catch (const LeaseLost&) {
    // Another worker has the transaction, and the message comes to it.
  }
}

void LiveTransaction::send_outbox(Broker* broker, TakeOut when) {
  if (!unsent_) return;
  auto entries = store_.outbox(attempt_->task());
  if (entries.empty()) {
    unsent_ = false;
    return;
  }
  if (!broker)
    throw InvalidRequest{fmt::format(
        "transaction {} has messages to send, and this process has no broker", words_.id)};
  std::vector<Message> messages;
  std::vector<std::int64_t> numbers;
  for (auto& entry : entries) {
    messages.push_back(std::move(entry.message));
    numbers.push_back(entry.number);
  }
  kill_point(KillPoint::outbox_before_publish);
  broker->publish(messages);
  kill_point(KillPoint::outbox_after_publish);
  taken_out_ = std::move(numbers);
  if (when == TakeOut::now) write({});
  unsent_ = false;
}

std::size_t LiveTransaction::abandon_outbox() {
  taken_out_.clear();
  for (const auto& entry : store_.outbox(attempt_->task())) taken_out_.push_back(entry.number);
  unsent_ = false;
  return taken_out_.size();
}

}  // namespace holdfast
