#include <holdfast/state_machine.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "tasks/names.hpp"
#include "transactions/signals.hpp"

namespace holdfast {

std::string StateMachine::failing() const {
  auto at =
      std::ranges::find(states, Role::fails, [](const auto& each) { return each.second.role; });
  return at == states.end() ? std::string{} : at->first;
}

std::vector<std::string> StateMachine::signal_names() const {
  std::set<std::string> names;
  for (const auto& [each, state] : states)
    for (const auto& [signal, handler] : state.signals) names.insert(signal);
  return {names.begin(), names.end()};
}

void StateMachine::validate() const {
  check_name("name of the transactions", name, longest_name);
  auto expect = [&](const std::string& state, std::string_view why) {
    if (!state.empty() && !states.contains(state))
      throw InvalidRequest{fmt::format("transactions '{}': {} is '{}', which no state of them is",
                                       name, why, state)};
  };
  if (initial.empty()) throw InvalidRequest{fmt::format("transactions '{}' have no states", name)};
  expect(initial, "the first state");
  expect(on_timeout, "where they go when they took too long");
  expect(on_send_timeout, "where they go when a message could not be sent");
  for (const auto& [each, state] : states) {
    if (each.empty())
      throw InvalidRequest{fmt::format(
          "transactions '{}' have a state without a name: describe the enum of their states with "
          "BOOST_DESCRIBE_ENUM",
          name)};
    if (state.role == Role::working && !state.enter)
      throw InvalidRequest{fmt::format(
          "transactions '{}': state '{}' has no handler; say what happens in it", name, each)};
    for (const auto& [signal, handler] : state.signals) check_signal_name(signal);
    expect(state.rules.on_timeout, "where a timeout leads to");
    expect(state.rules.on_failure, "where a failure leads to");
    expect(state.rules.on_missing_queue, "where a missing queue leads to");
    expect(state.rules.on_unreadable_queue, "where a queue that cannot be read leads to");
  }
}

}  // namespace holdfast
