#pragma once

#include <string>

#include <holdfast/payload.hpp>

namespace holdfast::cli {

/// What the demo's workers do: each `order` takes `ms`, charges somebody once, and asks for one
/// `receipt` in the same step as its completion.
struct DemoOrder {
  int ms = 0;
};
BOOST_DESCRIBE_STRUCT(DemoOrder, (), (ms))

struct DemoReceipt {
  std::string order;
};
BOOST_DESCRIBE_STRUCT(DemoReceipt, (), (order))

/// The result of an order: which attempt completed it.
struct DemoDone {
  std::int64_t token = 0;
};
BOOST_DESCRIBE_STRUCT(DemoDone, (), (token))

}  // namespace holdfast::cli
