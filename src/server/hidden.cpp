#include "server/hidden.hpp"

#include <algorithm>
#include <array>

#include "server/fields.hpp"
#include "tasks/json_text.hpp"

namespace holdfast::server {

namespace {

constexpr std::string_view in_its_place = "\"[hidden]\"";

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

void append(Shown& shown, std::string_view json) {
  const char first = json.empty() ? ' ' : json.front();
  if (first != '{' && first != '[') {
    shown.json += json;
    return;
  }
  const auto parts = elements(json);
  const bool object = first == '{';
  shown.json += first;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool name = object && i % 2 == 0;
    if (i > 0) shown.json += object && !name ? ':' : ',';
    if (object && !name && is_secret(unquoted(parts[i - 1]))) {
      shown.json += in_its_place;
      shown.hidden = true;
    } else if (name) {
      shown.json += parts[i];
    } else {
      append(shown, parts[i]);
    }
  }
  shown.json += object ? '}' : ']';
}

/// Where the string that begins at `at` ends; the end of the text if it is cut off before.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      return at + 1;
  }
  return text.size();
}

/// The same for any value.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const char next = text[at];
    const bool closes = next == '}' || next == ']';
    if (depth == 0 && (closes || next == ',')) return at;
    if (next == '"') {
      at = end_of_string(text, at);
      continue;
    }
    if (next == '{' || next == '[') ++depth;
    if (closes) --depth;
    ++at;
  }
  return text.size();
}

}  // namespace

bool is_secret(std::string_view name) {
  constexpr std::array<std::string_view, 11> parts = {
      "password", "passwd",  "passphrase",    "secret", "token",      "apikey",
      "api_key",  "api-key", "authorization", "cookie", "private_key"};
  std::string small{name};
  std::transform(small.begin(), small.end(), small.begin(), lower);
  return std::ranges::any_of(parts, [&](auto part) { return small.find(part) != small.npos; });
}

Shown hide_secrets(std::string_view json) {
  Shown shown;
  if (json.empty() || !json_fault(json).empty()) {
    shown.json = json;
    return shown;
  }
  const auto begin = json.find_first_not_of(" \n\r\t");
  append(shown, json.substr(begin));
  return shown;
}

Shown hide_secrets_in_beginning(std::string_view text) {
  Shown shown;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '"') {
      shown.json += text[at++];
      continue;
    }
    const auto end = end_of_string(text, at);
    const auto string = text.substr(at, end - at);
    shown.json += string;
    at = end;
    const auto colon = text.find_first_not_of(" \n\r\t", at);
    if (colon == text.npos || text[colon] != ':' || !json_fault(string).empty()) continue;
    if (!is_secret(unquoted(string))) continue;
    shown.json += ':';
    shown.json += in_its_place;
    shown.hidden = true;
    at = end_of_value(text, colon + 1);
  }
  return shown;
}

}  // namespace holdfast::server
