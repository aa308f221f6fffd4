#pragma once

#include <string_view>

#include <holdfast/state_machine.hpp>

namespace holdfast {

/// Throws `InvalidRequest` for a name that cannot be part of a queue's name.
void check_signal_name(std::string_view name);
/// The handler of the state for the queue that a message came from; none: it is no signal.
const SignalHandler* signal_handler_of(const StateMachine::State& state, const std::string& id,
                                       const std::string& queue, std::string& name);

}  // namespace holdfast
