#pragma once

#include <algorithm>
#include <ranges>
#include <string>
#include <string_view>

namespace holdfast {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// With the capital letters of ASCII made small, whatever the locale.
inline std::string ascii_lowercase(std::string_view text) {
  std::string lower{text};
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

/// Whether a list of texts has this one.
bool is_among(const std::ranges::range auto& list, std::string_view word) {
  return std::ranges::any_of(list, [&](std::string_view each) { return each == word; });
}

}  // namespace holdfast
