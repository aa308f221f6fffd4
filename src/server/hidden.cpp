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

}  // namespace holdfast::server
