#pragma once

#include <string>
#include <string_view>

namespace holdfast {

/// What is between the quotes of a JSON string, without escapes. Takes what was cut off in the
/// middle, and what is no escape, as it is.
std::string json_unescaped(std::string_view inside);

}  // namespace holdfast
