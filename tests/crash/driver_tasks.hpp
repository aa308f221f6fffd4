#pragma once

#include <string>

#include <holdfast/holdfast.hpp>

#include "support/journal.hpp"

namespace holdfast::test {

/// What the driver's tasks carry. `ms` is how long the work takes.
struct Order {
  int ms = 0;
  /// What else it does: `plain`; `poison` (segmentation fault); `flaky` (fails its first attempt);
  /// `doomed` (fails for good); `stubborn` (does not listen to its stop token); `hopeful` (asks for
  /// a follow-up that waits for a task that does not exist).
  std::string manner = "plain";
  std::string padding{};
};
BOOST_DESCRIBE_STRUCT(Order, (), (ms, manner, padding))

struct Receipt {
  std::string order;
};
BOOST_DESCRIBE_STRUCT(Receipt, (), (order))

struct OrderResult {
  std::int64_t token = 0;
};
BOOST_DESCRIBE_STRUCT(OrderResult, (), (token))

/// Handlers for `order` and `receipt` that say in the journal what they do.
void add_handlers(Tasks& tasks, const Journal& journal);
/// Says in the journal what the store accepted and refused.
void listen(const Engine& engine, const Journal& journal);

}  // namespace holdfast::test
