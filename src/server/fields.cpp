#include "server/fields.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/json/parse.hpp>

#include "server/problem.hpp"
#include "tasks/json_text.hpp"

namespace holdfast::server {

namespace {

bool is_blank(char letter) {
  return letter == ' ' || letter == '\n' || letter == '\r' || letter == '\t';
}

std::size_t string_length(std::string_view text) {
  std::size_t at = 1;
  while (text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return at + 1;
}

}  // namespace

std::size_t value_length(std::string_view text) {
  if (text.front() == '"') return string_length(text);
  const bool nested = text.front() == '{' || text.front() == '[';
  int depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char next = text[at];
    if (next == '"') {
      at += string_length(text.substr(at));
      continue;
    }
    if (!nested && (next == ',' || next == '}' || next == ']' || is_blank(next))) return at;
    if (next == '{' || next == '[') ++depth;
    if ((next == '}' || next == ']') && --depth == 0) return at + 1;
    ++at;
  }
  return text.size();
}

std::vector<std::string_view> elements(std::string_view text) {
  std::vector<std::string_view> found;
  for (std::size_t at = 1; at < text.size();) {
    const char next = text[at];
    if (is_blank(next) || next == ',' || next == ':') {
      ++at;
      continue;
    }
    if (next == '}' || next == ']') break;
    const auto length = value_length(text.substr(at));
    found.push_back(text.substr(at, length));
    at += length;
  }
  return found;
}

std::string unquoted(std::string_view text) {
  if (text.find('\\') == text.npos) return std::string{text.substr(1, text.size() - 2)};
  const auto value = boost::json::parse({text.data(), text.size()});
  return std::string{value.as_string()};
}

Fields Fields::of_body(const std::string& body) {
  static const std::string nothing = "{}";
  const std::string& text = body.empty() ? nothing : body;
  if (auto fault = json_fault(text); !fault.empty())
    throw Problem{400, "not_json", "the body is not JSON: " + fault};
  return Fields{text};
}

Fields::Fields(std::string_view text, std::string where) : where_{std::move(where)} {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  if (text.empty() || text.front() != '{')
    throw invalid(fmt::format("{} is not an object", where_.empty() ? "the body" : where_));
  const auto parts = elements(text);
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
    if (!members_.emplace(unquoted(parts[i]), parts[i + 1]).second)
      throw invalid(fmt::format("{} is there twice", place(unquoted(parts[i]))));
}

std::string Fields::place(std::string_view name) const {
  return where_.empty() ? std::string{name} : fmt::format("{}.{}", where_, name);
}

const Fields& Fields::only(const std::set<std::string_view>& known) const {
  for (const auto& [name, value] : members_)
    if (!known.contains(name))
      throw invalid(fmt::format(
          "there is no '{}' here; there are: {}", place(name),
          known.empty() ? std::string{"none"} : fmt::format("{}", fmt::join(known, ", "))));
  return *this;
}

std::optional<std::string_view> Fields::raw(std::string_view name) const {
  const auto found = members_.find(name);
  if (found == members_.end()) return {};
  return found->second;
}

std::optional<std::string> Fields::text(std::string_view name) const {
  const auto value = raw(name);
  if (!value || *value == "null") return {};
  if (value->front() != '"') throw invalid(fmt::format("{} is not a text", place(name)));
  return unquoted(*value);
}

std::string Fields::required_text(std::string_view name) const {
  if (auto value = text(name)) return *std::move(value);
  throw invalid(fmt::format("{} is missing", place(name)));
}

std::optional<std::int64_t> Fields::number(std::string_view name, std::int64_t least,
                                           std::int64_t most) const {
  const auto value = raw(name);
  if (!value || *value == "null") return {};
  std::int64_t number = 0;
  const char* end = value->data() + value->size();
  const auto read = std::from_chars(value->data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end || number < least || number > most)
    throw invalid(fmt::format("{} is {}; it is a whole number from {} to {}", place(name),
                              value->substr(0, 40), least, most));
  return number;
}

std::int64_t Fields::required_number(std::string_view name, std::int64_t least,
                                     std::int64_t most) const {
  if (auto value = number(name, least, most)) return *value;
  throw invalid(fmt::format("{} is missing", place(name)));
}

std::optional<double> Fields::fraction(std::string_view name) const {
  const auto value = raw(name);
  if (!value || *value == "null") return {};
  double number = 0;
  const char* end = value->data() + value->size();
  const auto read = std::from_chars(value->data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end || !std::isfinite(number))
    throw invalid(fmt::format("{} is not a number", place(name)));
  return number;
}

bool Fields::flag(std::string_view name) const {
  const auto value = raw(name);
  if (!value || *value == "false" || *value == "null") return false;
  if (*value != "true") throw invalid(fmt::format("{} is neither true nor false", place(name)));
  return true;
}

std::vector<std::string> Fields::texts(std::string_view name) const {
  const auto value = raw(name);
  if (!value || *value == "null") return {};
  if (value->front() != '[') throw invalid(fmt::format("{} is not a list", place(name)));
  std::vector<std::string> found;
  for (const auto& each : elements(*value)) {
    if (each.front() != '"')
      throw invalid(fmt::format("{} has something that is not a text", place(name)));
    found.push_back(unquoted(each));
  }
  return found;
}

std::optional<Fields> Fields::object(std::string_view name) const {
  const auto value = raw(name);
  if (!value || *value == "null") return {};
  return Fields{*value, place(name)};
}

std::vector<Fields> Fields::objects(std::string_view name, std::size_t most) const {
  const auto value = raw(name);
  if (!value || value->front() != '[') throw invalid(fmt::format("{} is not a list", place(name)));
  const auto parts = elements(*value);
  if (parts.size() > most)
    throw invalid(
        fmt::format("{} has {} elements; at most {} are allowed", place(name), parts.size(), most));
  std::vector<Fields> found;
  for (std::size_t i = 0; i < parts.size(); ++i)
    found.emplace_back(parts[i], fmt::format("{}[{}]", place(name), i));
  return found;
}

}  // namespace holdfast::server
