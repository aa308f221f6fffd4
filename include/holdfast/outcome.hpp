#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <boost/json/value.hpp>

#include <holdfast/json_shape.hpp>

namespace holdfast {

/// The work is done. `done` has no result; `done_with(value)` keeps one with the task.
struct Done {
  boost::json::value result{};
  std::string text{};  ///< the result as JSON text, kept as it is; empty: see `result`
};
inline const Done done{};

template <class T>
Done done_with(const T& value) {
  return Done{detail::write_json(value)};
}

/// It failed and should be tried again: after `delay` if given, else after the task's back-off.
/// Counts as an attempt; over the limit the task becomes a dead letter. Throwing does the same.
struct Retry {
  std::string reason;
  std::optional<std::chrono::milliseconds> delay{};
};
inline Retry retry(std::string reason) { return {std::move(reason), {}}; }
inline Retry retry_in(std::chrono::milliseconds delay, std::string reason) {
  return {std::move(reason), delay};
}

/// It failed and trying again is pointless: becomes a dead letter at once.
struct Fail {
  std::string reason;
};
inline Fail fail(std::string reason) { return {std::move(reason)}; }

/// Not now, and nobody's fault: comes back after `delay`; no attempt is charged.
struct Snooze {
  std::chrono::milliseconds delay;
};
inline Snooze snooze(std::chrono::milliseconds delay) { return {delay}; }

/// Whether it may run again is for a person to say: it is held, with this cause, until an operator
/// retries or cancels it.
struct Hold {
  std::string cause;
};
inline Hold hold(std::string cause) { return {std::move(cause)}; }

/// What a handler returns.
using Outcome = std::variant<Done, Retry, Fail, Snooze, Hold>;

}  // namespace holdfast
