#include "cli/hide_passwords.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace holdfast::cli {

namespace {

void hide(char* argument, std::size_t from, std::size_t to) {
  if (from < to) std::fill(argument + from, argument + to, '*');
}

/// What is between the first colon and the last @ before the path.
void hide_in_url(char* argument, std::string_view text) {
  const auto scheme = text.find("://");
  if (scheme == text.npos) return;
  const auto begin = scheme + 3;
  const auto at = text.rfind('@');
  if (at == text.npos || at < begin) return;
  const auto colon = text.substr(0, at).find(':', begin);
  if (colon != text.npos) hide(argument, colon + 1, at);
}

void hide_words(char* argument, std::string_view text, std::string_view name) {
  for (auto at = text.find(name); at != text.npos; at = text.find(name, at + name.size())) {
    const auto from = at + name.size();
    hide(argument, from, std::min(text.find_first_of(" &", from), text.size()));
  }
}

}  // namespace

void hide_passwords(char* argument) {
  const std::string_view text{argument, std::strlen(argument)};
  hide_in_url(argument, text);
  hide_words(argument, text, "password=");
}

}  // namespace holdfast::cli
