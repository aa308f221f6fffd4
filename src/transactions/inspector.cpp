#include <holdfast/transaction_inspector.hpp>

#include <array>

#include <holdfast/state_machine.hpp>

#include "recovery/transaction_notes.hpp"
#include "tasks/engine_parts.hpp"
#include "transactions/held_ledger.hpp"
#include "transactions/start.hpp"

namespace holdfast {

namespace {

TransactionRecord record_of(const TaskRecord& task, const std::optional<TransactionRow>& row) {
  auto words = parse_start(task.payload);
  TransactionRecord record{.id = std::move(words.id),
                           .machine = task.queue,
                           .task = task,
                           .input = std::move(words.input)};
  if (!row) return record;
  record.state = row->state;
  record.reason = row->reason;
  record.data = row->data;
  record.error = row->error;
  record.failures = row->failures;
  record.began_at = row->began_at;
  record.entered_at = row->entered_at;
  record.progressed_at = row->progressed_at;
  return record;
}

}  // namespace

std::optional<TransactionRecord> TransactionInspector::find(std::string_view id) const {
  auto task = tasks_.task(transaction_task(id));
  if (!task || task->kind != transaction_kind) return {};
  std::array ids{task->id};
  return record_of(*task, engine_.parts().transactions().find(ids).front());
}

std::vector<TransactionRecord> TransactionInspector::list(const TransactionFilter& filter,
                                                          TaskPage page) const {
  auto tasks = tasks_.tasks(
      {.states = filter.states, .queue = filter.machine, .kind = transaction_kind}, page);
  std::vector<TaskId> ids;
  for (const auto& task : tasks) ids.push_back(task.id);
  auto rows = engine_.parts().transactions().find(ids);
  std::vector<TransactionRecord> records;
  for (std::size_t i = 0; i < tasks.size(); ++i) records.push_back(record_of(tasks[i], rows[i]));
  return records;
}

std::vector<StateMove> TransactionInspector::moves(std::string_view id) const {
  return engine_.parts().transactions().moves(transaction_task(id));
}

LastMoves TransactionInspector::last_moves(std::string_view id, std::int64_t most) const {
  auto& store = engine_.parts().transactions();
  const auto task = transaction_task(id);
  const auto before = std::max<std::int64_t>(store.move_count(task) - most, 0);
  return {store.moves(task, {.skip = before}), before};
}

std::vector<LedgerEntry> TransactionInspector::ledger(std::string_view id) const {
  return read_ledger(engine_.parts().transactions(), transaction_task(id));
}

std::vector<Message> TransactionInspector::outbox(std::string_view id) const {
  std::vector<Message> messages;
  for (auto& entry : engine_.parts().transactions().outbox(transaction_task(id)))
    messages.push_back(std::move(entry.message));
  return messages;
}

bool TransactionInspector::cancel(std::string_view id, bool force) {
  const auto task = transaction_task(id);
  if (tasks_.cancel({.kind = transaction_kind, .ids = {task}}, force) == 0) return false;
  if (!engine_.events().heard()) return true;
  // One that runs is asked to stop, and its runner says so when it does.
  const auto history = tasks_.history(task);
  if (!history.empty() && history.back().to == TaskState::cancelled &&
      !history.back().actor.starts_with("worker/"))
    if (const auto found = find(id))
      engine_.events().emit(
          transaction_note(found->id, found->machine, TransactionNote::cancelled));
  return true;
}

bool TransactionInspector::start_over(std::string_view id, const std::string& data_json) {
  auto task = transaction_task(id);
  auto& store = engine_.parts().transactions();
  std::array ids{task};
  auto row = store.find(ids).front();
  if (!row) return false;
  auto moves = store.moves(task, {.most = 1});
  auto record = tasks_.task(task);
  auto ended = record ? std::string{to_string(record->state)} : std::string{"removed"};
  return store.put_back(task, {.to = moves.empty() ? row->state : moves.front().from,
                               .reason = ended + ": what it had is gone, and a retry starts over",
                               .data = data_json,
                               .forget_ledger = true});
}

bool TransactionInspector::retry(std::string_view id, const std::string& state) {
  auto task = transaction_task(id);
  auto& store = engine_.parts().transactions();
  std::array ids{task};
  if (auto row = store.find(ids).front()) {
    auto to = state.empty() ? row->state : state;
    auto moves = store.moves(task, {.most = 1});
    // It failed its way to where it is, so there is nothing to go on with there.
    if (state.empty() && !row->reason.empty() && !moves.empty()) to = moves.front().from;
    store.put_back(task, {.to = to, .reason = state.empty() ? "" : "an operator sent it here"});
  }
  return tasks_.retry({.kind = transaction_kind, .ids = {task}}) > 0;
}

std::int64_t TransactionInspector::remove_stray_ledgers() const {
  return holdfast::remove_stray_ledgers(engine_.parts().transactions());
}

}  // namespace holdfast
