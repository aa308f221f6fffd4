#pragma once

#include <string>

namespace holdfast {

/// PostgreSQL's jsonb cannot hold a zero (`\u0000` in a text), and one row must not keep the others
/// of its commit from being written.
bool has_zero(const std::string& json);
/// With another character instead of each.
std::string without_zeros(std::string json);

}  // namespace holdfast
