#pragma once

#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

#include "engines/postgres/values.hpp"

namespace holdfast::postgres {

/// A filter as a condition on `t`, a row of the table of tasks, with the values that it names.
struct Condition {
  std::string sql{};
  std::vector<Value> values{};

  explicit Condition(const TaskFilter& filter);
  /// Adds a value; returns how the statement calls it.
  std::string name(Value value);
};

}  // namespace holdfast::postgres
