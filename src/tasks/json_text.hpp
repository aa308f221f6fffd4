#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

/// Deeper JSON is refused, so that no reader of it can run out of stack.
inline constexpr int deepest_json = 32;

/// What is wrong with `text` as JSON, and where; empty if it is fine. Builds nothing, so it is
/// cheap enough for every payload of a bulk enqueue.
std::string json_fault(std::string_view text);

/// The names of the members of `text`, unescaped and in order, if it is an object, else none. Of
/// damaged JSON, those before the damage.
std::vector<std::string> member_names(std::string_view text);

}  // namespace holdfast
