#include "http/url_characters.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace holdfast::http {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// Where its path, query or fragment begins, or its end.
std::size_t end_of_authority(std::string_view url) {
  auto scheme = std::ranges::find_if_not(
      url, [](char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.'; });
  auto at = static_cast<std::size_t>(scheme - url.begin());
  if (at > 0) {
    if (!url.substr(at).starts_with(':')) return 0;
    ++at;
  }
  if (!url.substr(at).starts_with("//")) return at;
  return std::min(url.find_first_of("/?#\\", at + 2), url.size());
}

bool may_follow_the_host(char c) {
  constexpr std::string_view signs = "-._~!$&'()*+,;=:@/?";
  return is_letter(c) || is_digit(c) || signs.find(c) != signs.npos;
}

/// Which no two programs read alike.
bool is_doubtful(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' || c == '\\';
}

bool begins_escape(std::string_view rest) {
  return rest.size() > 2 && rest[0] == '%' && is_hex(rest[1]) && is_hex(rest[2]);
}

std::string shown(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == ' ') return "a space";
  if (byte < ' ' || byte == 0x7f) return fmt::format("the control character 0x{:02x}", byte);
  return byte < 0x80 ? fmt::format("the character {}", c) : "letters other than a to z";
}

}  // namespace

std::string escaped(std::string_view url) {
  const auto begin = end_of_authority(url);
  std::string text{url.substr(0, begin)};
  text.reserve(url.size());
  bool in_fragment = false;
  for (auto at = begin; at < url.size(); ++at) {
    const char c = url[at];
    const bool begins_fragment = c == '#' && !in_fragment;
    in_fragment = in_fragment || begins_fragment;
    if (may_follow_the_host(c) || is_doubtful(c) || begins_fragment ||
        begins_escape(url.substr(at)))
      text += c;
    else
      text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

std::string what_is_wrong_with(std::string_view url) {
  const auto rest = end_of_authority(url);
  const auto doubtful = std::ranges::find_if(url, is_doubtful);
  if (doubtful != url.end())
    return fmt::format("it has {} in it, to be written as %{:02X}", shown(*doubtful),
                       static_cast<unsigned char>(*doubtful));
  const auto host = url.substr(0, rest);
  const auto strange = std::ranges::find_if(
      host, [](char c) { return !may_follow_the_host(c) && c != '[' && c != ']' && c != '%'; });
  if (strange != host.end())
    return fmt::format("it has {} in its host{}", shown(*strange),
                       static_cast<unsigned char>(*strange) < 0x80
                           ? ""
                           : ", whose name is to be written as xn--...");
  return rest == 0 ? "it does not begin with http:// or https://"
                   : "its host and port cannot be read";
}

}  // namespace holdfast::http
