#include "engines/sidekiq/ruby_json.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <holdfast/error.hpp>

#include "engines/sidekiq/jobs.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast::sidekiq {

namespace {

/// What a text begins with that stands for a number. Nobody outside can know it, so no server can
/// make a number of a text.
const std::string& number_mark() {
  static const auto mark = fmt::format("\"\\u0001{}:", random_hex(32));
  return mark;
}

constexpr std::string_view digits = "0123456789";
constexpr std::size_t digits_that_may_be_too_many = 19;

bool may_have_large_numbers(std::string_view json) {
  auto is_digit = [](char c) { return digits.find(c) != digits.npos; };
  return !std::ranges::search_n(json, digits_that_may_be_too_many, true, {}, is_digit).empty();
}

bool is_large(std::string_view number) {
  if (number.find_first_of(".eE") != number.npos) return false;
  std::int64_t low = 0;
  std::uint64_t high = 0;
  auto fails = [&](auto& value) {
    return std::from_chars(number.data(), number.data() + number.size(), value).ec != std::errc{};
  };
  return fails(low) && fails(high);
}

/// The text, number or other character that `json` begins with.
std::string_view first_token(std::string_view json) {
  if (json.front() == '"') {
    std::size_t at = 1;
    while (at < json.size() && json[at] != '"') at += json[at] == '\\' ? 2 : 1;
    return json.substr(0, at + 1);
  }
  return json.substr(0, std::max<std::size_t>(json.find_first_not_of("0123456789+-.eE"), 1));
}

std::string with_marked_numbers(std::string_view json) {
  std::string marked;
  while (!json.empty()) {
    auto token = first_token(json);
    json.remove_prefix(token.size());
    bool is_number = token.front() == '-' || digits.find(token.front()) != digits.npos;
    if (is_number && is_large(token))
      marked += fmt::format("{}{}\"", number_mark(), token);
    else
      marked += token;
  }
  return marked;
}

}  // namespace

std::string ruby_text(const boost::json::value& value) {
  auto text = boost::json::serialize(value);
  const auto& mark = number_mark();
  for (auto at = text.find(mark); at != text.npos; at = text.find(mark, at)) {
    text.erase(at, mark.size());
    text.erase(text.find('"', at), 1);
  }
  return text;
}

boost::json::value parse_as_ruby(std::string_view text) {
  std::string marked;
  if (may_have_large_numbers(text)) text = marked = with_marked_numbers(text);
  boost::json::parse_options as_ruby;
  as_ruby.max_depth = deepest_for_ruby;
  as_ruby.allow_invalid_utf8 = true;
  boost::json::error_code fault;
  auto value = boost::json::parse({text.data(), text.size()}, fault, {}, as_ruby);
  if (fault == boost::json::error::too_deep)
    throw InvalidRequest{
        fmt::format("not valid JSON: nested deeper than {} levels", deepest_for_ruby)};
  if (fault) throw InvalidRequest{fmt::format("not valid JSON: {}", fault.message())};
  return value;
}

std::string as_utf8(std::string text) {
  if (is_utf8(text)) return text;
  std::string replaced;
  for (std::string_view rest = text; !rest.empty();) {
    auto size = utf8_character(rest);
    replaced += size > 0 ? rest.substr(0, size) : "\xef\xbf\xbd";
    rest.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return replaced;
}

int depth_of(const boost::json::value& value) {
  int inside = 0;
  if (const auto* list = value.if_array())
    for (const auto& each : *list) inside = std::max(inside, depth_of(each));
  else if (const auto* object = value.if_object())
    for (const auto& member : *object) inside = std::max(inside, depth_of(member.value()));
  else
    return 0;
  return inside + 1;
}

}  // namespace holdfast::sidekiq
