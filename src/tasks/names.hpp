#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast {

inline constexpr std::size_t longest_name = 200;
inline constexpr std::size_t longest_unique_key = 500;

/// Throws `InvalidRequest` if `name` is empty, too long, not UTF-8 or has control characters;
/// `what` says in the message what it is the name of.
void check_name(std::string_view what, std::string_view name, std::size_t longest);

}  // namespace holdfast
