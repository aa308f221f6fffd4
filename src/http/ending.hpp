#pragma once

#include <holdfast/outcome.hpp>

#include "http/job.hpp"

namespace holdfast::http {

/// What becomes of a request after an attempt.
struct Ending {
  Outcome outcome{Done{}};
  /// For the callback, as JSON: `{"response": ...}` or `{"error": ...}`; empty: nothing is
  /// delivered yet.
  std::string delivery{};
  bool is_error = false;  ///< that is the latter
};

struct AttemptFacts {
  int number = 1;
  int max_attempts = 1;
  bool raise_error_responses = false;
  WallTime now{};
};

/// The policy: what is tried again, when, and what is final. Without a callback the answer is the
/// result of the request's task.
Ending decide_ending(const Request& request, const Answer& answer, const AttemptFacts& facts);

/// The result for an answer without a callback that was sealed: with what is counted of it, for
/// those who cannot open it.
std::string sealed_result(const Response& response, std::string_view sealed);

}  // namespace holdfast::http
