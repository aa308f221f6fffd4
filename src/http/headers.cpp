#include "http/headers.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "recovery/plain_text.hpp"

namespace holdfast::http {

namespace {

bool is_token_character(char c) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         others.find(c) != std::string_view::npos;
}

bool is_allowed_in_value(char c) {
  auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string as_utf8(std::string text) {
  if (is_utf8(text)) return text;
  std::string utf8;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      utf8 += c;
    } else {
      utf8 += static_cast<char>(0xc0 | byte >> 6);
      utf8 += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return utf8;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string result{text};
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

void check_header(std::string_view name, std::string_view value) {
  if (name.empty() || !std::ranges::all_of(name, is_token_character))
    throw InvalidRequest{
        fmt::format("'{}' is not the name of a header: letters, digits and !#$%&'*+-.^_`|~ are "
                    "allowed",
                    plain(name))};
  if (!std::ranges::all_of(value, is_allowed_in_value))
    throw InvalidRequest{
        fmt::format("the value of header '{}' has control characters such as line ends, which are "
                    "not allowed",
                    name)};
  if (!is_utf8(value))
    throw InvalidRequest{fmt::format("the value of header '{}' is not valid UTF-8", name)};
}

bool is_harmless_header(std::string_view name) {
  constexpr std::array<std::string_view, 8> harmless{
      "accept",        "accept-charset", "accept-encoding", "accept-language",
      "cache-control", "content-type",   "user-agent",      "x-request-id"};
  return std::ranges::count(harmless, name) > 0;
}

Headers merge(const Headers& under, const Headers& over) {
  Headers merged;
  for (const auto& [name, value] : under) merged[lower(name)] = value;
  for (const auto& [name, value] : over) merged[lower(name)] = value;
  return merged;
}

void add_header_line(Headers& headers, std::string_view line) {
  auto colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return;
  auto name = as_utf8(lower(trimmed(line.substr(0, colon))));
  auto value = as_utf8(std::string{trimmed(line.substr(colon + 1))});
  auto at = headers.find(name);
  if (at == headers.end())
    headers.emplace(std::move(name), std::move(value));
  else if (name != "location")  // of two places to go to, the first counts, as it does elsewhere
    at->second += ", " + value;
}

std::optional<std::size_t> length_in(std::string_view said) {
  std::optional<std::size_t> length;
  for (bool more = true; more;) {
    const auto comma = said.find(',');
    const auto text = trimmed(said.substr(0, comma));
    more = comma != said.npos;
    if (more) said.remove_prefix(comma + 1);
    std::size_t one = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), one);
    if (error == std::errc::result_out_of_range) one = std::string_view::npos;
    if (error == std::errc::invalid_argument || end != text.data() + text.size()) return {};
    if (length && *length != one) return {};
    length = one;
  }
  return length;
}

}  // namespace holdfast::http
