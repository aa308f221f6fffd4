#include "http/phase.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <holdfast/inspector.hpp>

namespace holdfast::http {

namespace {

constexpr const char* unsent = "unsent";
constexpr const char* ambiguous = "ambiguous";

std::string ours(const Attempt& attempt) { return std::to_string(attempt.token().value); }

/// An operator who puts the request back after the claim `token` has decided that it is sent again.
bool released_since(const Engine& engine, TaskId task, std::int64_t token) {
  auto steps = Inspector{engine}.history(task);
  return std::ranges::any_of(steps, [&](const Transition& step) {
    return step.to == TaskState::pending && step.actor.starts_with("operator") &&
           step.token.value >= token;
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
