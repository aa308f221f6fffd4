#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/broker.hpp>

namespace holdfast {

/// How often handing one message to its handler ended badly. It is written before the handler
/// begins, in the store of the transaction that the message is for: what a broker counts also
/// counts deliveries that ended with a connection and were never handed to a handler.
struct MessageAttempts {
  int deaths = 0;    ///< begun and not ended, and the process died of itself
  int failures = 0;  ///< the handler threw, or returned `Retry`
  /// Crashes that the task was charged with when the last one began; -1: none is under way. A
  /// process that is killed from outside charges nothing.
  int begun_at = -1;

  /// Empty for none.
  std::string text() const;
  /// What is not the text of one is none.
  static MessageAttempts parse(std::string_view text);
  bool operator==(const MessageAttempts&) const = default;
};

/// The series of the ledger that has them. No handler sees its lines.
inline constexpr const char* attempts_series = "holdfast/attempts";
/// Which line is that of a message: a number made of its queue, id, headers, size and beginning,
/// because a message need not have an id.
std::int64_t attempts_line_of(Delivery& delivery);

}  // namespace holdfast
