#include "transactions/signals.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <holdfast/transaction_inspector.hpp>

#include "tasks/json_text.hpp"

namespace holdfast {

namespace {

constexpr std::size_t longest_signal_name = 60;

bool is_plain_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

bool has_ended(TaskState state) {
  return state == TaskState::completed || state == TaskState::failed ||
         state == TaskState::cancelled;
}

}  // namespace

void check_signal_name(std::string_view name) {
  if (name.empty() || name.size() > longest_signal_name ||
      !std::ranges::all_of(name, is_plain_letter))
    throw InvalidRequest{
        fmt::format("the name of a signal needs 1 to {} letters, digits, '-' and '_'; '{}' is not "
                    "one",
                    longest_signal_name, name)};
}

std::string signal_queue(std::string_view id, std::string_view name) {
  return fmt::format("transaction-{}-signal-{}", id, name);
}

const SignalHandler* signal_handler_of(const StateMachine::State& state, const std::string& id,
                                       const std::string& queue, std::string& name) {
  for (const auto& [each, handler] : state.signals)
    if (queue == signal_queue(id, each)) {
      name = each;
      return &handler;
    }
  return nullptr;
}

void signal_transaction(const Engine& engine, Broker& broker, const std::string& id,
                        const std::string& name, const std::string& json) {
  check_signal_name(name);
  if (const auto fault = json_fault(json); !fault.empty())
    throw InvalidRequest{fmt::format("the value of a signal is not JSON: {}", fault)};
  const auto found = TransactionInspector{engine}.find(id);
  if (!found) throw InvalidRequest{fmt::format("there is no transaction '{}' in this store", id)};
  if (has_ended(found->task.state))
    throw InvalidRequest{fmt::format("transaction '{}' is {} and takes no signals", found->id,
                                     to_string(found->task.state))};
  if (found->state.empty())
    throw InvalidRequest{fmt::format(
        "transaction '{}' has not begun and takes no signals yet; try again when it runs",
        found->id)};
  try {
    broker.publish(Message{signal_queue(found->id, name), json, TaskId::make().text()});
  } catch (const QueueMissing&) {
    throw InvalidRequest{
        fmt::format("transaction '{}' ({}) takes no signal '{}'", found->id, found->machine, name)};
  }
}

}  // namespace holdfast
