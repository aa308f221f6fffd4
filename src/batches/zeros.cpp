#include "batches/zeros.hpp"

#include <string_view>

namespace holdfast {

namespace {

constexpr std::string_view zero = "\\u0000", instead = "\\ufffd";

/// Where the next one begins, if its backslash is not the end of an escaped one.
std::size_t find_zero(const std::string& json, std::size_t from) {
  for (auto at = json.find(zero, from); at != json.npos; at = json.find(zero, at + 1)) {
    auto first = at;
    while (first > 0 && json[first - 1] == '\\') --first;
    if ((at - first) % 2 == 0) return at;
  }
  return json.npos;
}

}  // namespace

bool has_zero(const std::string& json) { return find_zero(json, 0) != json.npos; }

std::string without_zeros(std::string json) {
  for (auto at = find_zero(json, 0); at != json.npos; at = find_zero(json, at + instead.size()))
    json.replace(at, zero.size(), instead);
  return json;
}

}  // namespace holdfast
