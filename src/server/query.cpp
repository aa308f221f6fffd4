#include "server/query.hpp"

#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "recovery/plain_text.hpp"
#include "server/problem.hpp"

namespace holdfast::server {

namespace {

int digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char next = text[i];
    if (next == '%') {
      const int high = i + 2 < text.size() ? digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return {};
      next = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (next == '+' && plus_is_space) {
      next = ' ';
    }
    if (static_cast<unsigned char>(next) < 0x20 || next == 0x7f) return {};
    out += next;
  }
  if (!is_utf8(out)) return {};
  return out;
}

std::optional<Query> Query::parse(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const auto end = std::min(text.find('&'), text.size());
    const auto member = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (member.empty()) continue;
    const auto equals = std::min(member.find('='), member.size());
    auto name = percent_decoded(member.substr(0, equals), true);
    auto value = percent_decoded(member.substr(std::min(equals + 1, member.size())), true);
    if (!name || !value) return {};
    query.members_.emplace_back(*std::move(name), *std::move(value));
  }
  return query;
}

std::optional<std::string> Query::find(std::string_view name) const {
  for (const auto& [each, value] : members_)
    if (each == name) return value;
  return {};
}

std::vector<std::string> Query::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [each, value] : members_)
    if (each == name) values.push_back(value);
  return values;
}

std::int64_t Query::number(std::string_view name, std::int64_t otherwise, std::int64_t least,
                           std::int64_t most) const {
  const auto text = find(name);
  if (!text) return otherwise;
  std::int64_t value = 0;
  const auto read = std::from_chars(text->data(), text->data() + text->size(), value);
  if (read.ec != std::errc{} || read.ptr != text->data() + text->size() || value < least ||
      value > most)
    throw invalid(fmt::format("the parameter {} is '{}'; it is a whole number from {} to {}", name,
                              *text, least, most));
  return value;
}

bool Query::flag(std::string_view name) const {
  const auto text = find(name);
  if (!text) return false;
  if (*text != "true" && *text != "false")
    throw invalid(fmt::format("the parameter {} is '{}'; it is true or false", name, *text));
  return *text == "true";
}

void Query::only(const std::set<std::string_view>& known) const {
  for (const auto& [name, value] : members_)
    if (!known.contains(name))
      throw invalid(fmt::format(
          "there is no parameter '{}' here; there are: {}", name,
          known.empty() ? std::string{"none"} : fmt::format("{}", fmt::join(known, ", "))));
}

}  // namespace holdfast::server
