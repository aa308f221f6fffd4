#include "http/phase.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <holdfast/inspector.hpp>

#include "recovery/actors.hpp"

namespace holdfast::http {

namespace {

constexpr const char* unsent = "unsent";
constexpr const char* ambiguous = "ambiguous";

std::string ours(const Attempt& attempt) { return std::to_string(attempt.token().value); }

/// From there nothing goes on by itself. What the system holds, to move it elsewhere, it also lets
/// go; everybody else is a person, or acts for one, whatever the name.
bool is_released(const Transition& step) {
  const bool rested = step.from == TaskState::held || step.from == TaskState::failed ||
                      step.from == TaskState::cancelled;
  const bool goes_on = step.to == TaskState::pending || step.to == TaskState::blocked;
  return rested && goes_on && !step.actor.starts_with(actors::system);
}

/// Whoever puts the request back after the claim `token` has decided that it is sent again.
bool released_since(const Engine& engine, TaskId task, std::int64_t token) {
  auto steps = Inspector{engine}.history(task);
  return std::ranges::any_of(steps, [&](const Transition& step) {
    return is_released(step) && step.token.value >= token;
  });
}

}  // namespace

bool begin_sending(Attempt& attempt, const Engine& engine) {
  std::string key = "sending";
  while (true) {
    auto sender = attempt.record_once(key, ours(attempt));
    if (sender == ours(attempt)) return true;
    auto end = attempt.record_once("end of " + sender, ambiguous);
    if (end == ambiguous && !released_since(engine, attempt.task(), std::stoll(sender)))
      return false;
    key = "sending after " + sender;
  }
}

void may_be_sent_again(Attempt& attempt) { attempt.record_once("end of " + ours(attempt), unsent); }

}  // namespace holdfast::http
