#include "transactions/held_ledger.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "transactions/message_attempts.hpp"

namespace holdfast {

namespace {

constexpr const char* outside_series = "holdfast/outside";
constexpr std::int64_t outside_ordinal = -1;
/// So many are looked at in one go; there is another one soon.
constexpr int ledgers_at_once = 500;

void check(const std::vector<LedgerEntry>& entries) {
  for (const auto& entry : entries)
    if (entry.series == outside_series || entry.series == attempts_series)
      throw InvalidRequest{
          fmt::format("the name of the series '{}' is reserved; choose another", entry.series)};
}

/// What the store has, without what is kept about messages.
std::vector<LedgerEntry> lines_in(TransactionStore& store, TaskId id) {
  auto lines = store.ledger(id);
  std::erase_if(lines, [](const LedgerEntry& line) { return !is_of_handlers(line); });
  return lines;
}

}  // namespace

std::optional<LedgerName> LedgerName::parse(std::string_view text) {
  auto dash = text.find('-');
  auto task = TaskId::parse(text.substr(0, dash));
  if (dash == std::string_view::npos || !task) return {};
  return LedgerName{*task, std::string{text.substr(dash + 1)}};
}

LedgerEntry line_for(const LedgerName& name) {
  return {outside_series, outside_ordinal, name.beginning};
}

std::optional<LedgerName> outside_ledger(TransactionStore& store, TaskId id) {
  auto beginning = store.recorded(id, outside_series, outside_ordinal);
  if (!beginning) return {};
  if (!store.outside())
    throw StoreUnusable{fmt::format(
        "the ledger of the transaction of task {} is kept outside of its store; say where, with "
        "HOLDFAST_LEDGER, --ledger or 'ledger:' in the configuration file",
        id.text())};
  return LedgerName{id, *beginning};
}

std::vector<LedgerEntry> read_ledger(TransactionStore& store, TaskId id) {
  auto name = outside_ledger(store, id);
  return name ? store.outside()->lines(*name) : lines_in(store, id);
}

std::vector<LedgerEntry> read_ledger(TransactionStore& store, TaskId id, Stretch stretch) {
  const auto name = outside_ledger(store, id);
  if (!name) return store.ledger(id, stretch);
  auto lines = store.outside()->lines(*name);
  const auto first = std::min<std::int64_t>(stretch.skip, std::ssize(lines));
  const auto count = std::min<std::int64_t>(stretch.most, std::ssize(lines) - first);
  return {std::make_move_iterator(lines.begin() + first),
          std::make_move_iterator(lines.begin() + first + count)};
}

bool is_of_handlers(const LedgerEntry& line) { return line.series != attempts_series; }

std::int64_t remove_stray_ledgers(TransactionStore& store) {
  if (!store.outside()) return 0;
  std::int64_t removed = 0;
  for (const auto& name : store.outside()->to_look_at(ledgers_at_once)) {
    if (outside_ledger(store, name.task) == name) continue;
    store.outside()->remove(name);
    ++removed;
  }
  return removed;
}

const std::optional<LedgerName>& HeldLedger::unlocked_name() {
  if (!known_) name_ = outside_ledger(store_, lease_.id);
  known_ = true;
  return name_;
}

const std::optional<LedgerName>& HeldLedger::name() {
  if (!unlocked_name() || shut_out_) return name_;
  if (!store_.outside()->record(*name_, lease_.token, {}))
    throw LeaseLost{"another worker has this transaction, and has looked at its ledger"};
  shut_out_ = true;
  return name_;
}

bool HeldLedger::begins_outside() {
  if (!store_.outside() || stays_in_) return false;
  if (lines_in(store_, lease_.id).empty()) return true;
  // An earlier try of ours, whose answer was lost, may have told the store a name.
  known_ = false;
  stays_in_ = !unlocked_name();
  return false;
}

std::optional<std::string> HeldLedger::recorded(const std::string& series, std::int64_t ordinal) {
  if (!name()) return store_.recorded(lease_.id, series, ordinal);
  return store_.outside()->recorded(*name_, series, ordinal);
}

std::vector<LedgerEntry> HeldLedger::lines() {
  return name() ? store_.outside()->lines(*name_) : lines_in(store_, lease_.id);
}

Stepped HeldLedger::record(Step step) {
  check(step.record);
  if (!name() && begins_outside()) return begin_with(std::move(step), false);
  if (!name()) return store_.step(step);
  auto written = store_.outside()->record(*name_, lease_.token, std::exchange(step.record, {}));
  if (!written) return {};
  step.progressed = written->grown;
  auto stepped = store_.step(step);
  stepped.recorded = std::move(written->values);
  return stepped;
}

Stepped HeldLedger::replace(Step step) {
  check(step.record);
  step.forget_ledger = true;
  if (!store_.outside()) return store_.step(step);
  auto old = unlocked_name();
  auto stepped = begin_with(std::move(step), true);
  if (old && stepped.accepted) remove_if_possible(*old);
  return stepped;
}

/// What nobody knows the name of is nobody's yet, so its first lines can be there before the store
/// is told the name: then all of a step is in one commit.
Stepped HeldLedger::begin_with(Step step, bool replaces) {
  auto name = LedgerName::make(lease_.id);
  store_.outside()->begin(name, lease_.token);
  auto written = store_.outside()->record(name, lease_.token, std::exchange(step.record, {}));
  if (!written) return {};
  step.record = {line_for(name)};
  step.forget_ledger = replaces;
  auto stepped = store_.step(step);
  if (!stepped.accepted) {
    remove_if_possible(name);
    return stepped;
  }
  name_ = name;
  shut_out_ = known_ = true;
  stepped.recorded = std::move(written->values);
  return stepped;
}

Stepped HeldLedger::forget(Step step) {
  step.forget_ledger = true;
  auto old = unlocked_name();
  auto stepped = store_.step(step);
  if (!stepped.accepted) return stepped;
  name_.reset();
  stays_in_ = false;
  if (old) remove_if_possible(*old);
  return stepped;
}

/// It is waste now. If this fails, the sweep comes by.
void HeldLedger::remove_if_possible(const LedgerName& name) {
  try {
    store_.outside()->remove(name);
  } catch (const StoreError&) {
  }
}

}  // namespace holdfast
