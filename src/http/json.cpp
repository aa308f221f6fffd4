#include "http/json.hpp"

#include <cstdint>
#include <cstring>
#include <iterator>

#include <fmt/format.h>
#include <holdfast/error.hpp>
#include <holdfast/payload.hpp>

#include "http/base64.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast::http {

namespace {

bool is_escaped(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

/// Whether one of eight bytes is escaped, by arithmetic on all of them at once: a byte that is less
/// than what is taken away from it borrows, and its highest bit tells.
bool has_escaped(std::uint64_t eight) {
  constexpr std::uint64_t each = 0x0101'0101'0101'0101U, highest = each * 0x80;
  auto less = [](std::uint64_t bytes, std::uint64_t than) {
    return (bytes - each * than) & ~bytes & highest;
  };
  return (less(eight, 0x20) | less(eight ^ each * '"', 1) | less(eight ^ each * '\\', 1)) != 0;
}

/// How many bytes at the beginning of a text stay as they are.
std::size_t plain_beginning(std::string_view text) {
  std::size_t size = 0;
  for (std::uint64_t eight = 0; size + sizeof eight <= text.size(); size += sizeof eight) {
    std::memcpy(&eight, text.data() + size, sizeof eight);
    if (has_escaped(eight)) break;
  }
  while (size < text.size() && !is_escaped(text[size])) ++size;
  return size;
}

}  // namespace

void append_quoted(std::string& to, std::string_view text) {
  to += '"';
  while (true) {
    auto plain = plain_beginning(text);
    to += text.substr(0, plain);
    if (plain == text.size()) break;
    auto c = text[plain];
    if (c == '"' || c == '\\') {
      to += {'\\', c};
    } else {
      fmt::format_to(std::back_inserter(to), "\\u{:04x}", c);
    }
    text.remove_prefix(plain + 1);
  }
  to += '"';
}

void Writing::member(std::string_view name) {
  if (text_.size() > 1) text_ += ',';
  append_quoted(text_, name);
  text_ += ':';
}

Writing& Writing::text(std::string_view name, std::string_view value) {
  member(name);
  append_quoted(text_, value);
  return *this;
}

Writing& Writing::number(std::string_view name, std::int64_t value) {
  return json(name, fmt::format_int{value}.c_str());
}

Writing& Writing::fraction(std::string_view name, double value) {
  return json(name, fmt::format("{}", value));
}

Writing& Writing::texts(std::string_view name, const std::vector<std::string>& values) {
  member(name);
  text_ += '[';
  for (const auto& value : values) {
    if (&value != &values.front()) text_ += ',';
    append_quoted(text_, value);
  }
  text_ += ']';
  return *this;
}

Writing& Writing::json(std::string_view name, std::string_view value) {
  member(name);
  text_ += value;
  return *this;
}

std::string Writing::str() {
  text_ += '}';
  return std::move(text_);
}

std::string body_text(std::string_view bytes) {
  if (bytes.empty()) return "null";
  Writing text, coded;
  if (is_utf8(bytes)) text.text("encoding", "text").text("value", bytes);
  // What has many control characters is shorter as bytes.
  const bool is_short = text.size() > 1 && text.size() < bytes.size() + bytes.size() / 2 + 100;
  if (is_short) return text.str();
  return coded.text("encoding", "base64").text("value", base64(bytes)).str();
}

boost::json::value body_json(std::string_view bytes) { return parse_json(body_text(bytes)); }

Reading::Reading(const boost::json::value& json, std::string_view what)
    : object_{json.if_object()}, what_{what} {
  if (!object_) throw InvalidRequest{fmt::format("{} is not a JSON object", what)};
}

void Reading::refuse(std::string_view name, std::string_view wanted) const {
  throw InvalidRequest{fmt::format("'{}' of {} is not {}", name, what_, wanted)};
}

const boost::json::value* Reading::find(std::string_view name) const {
  const auto* value = object_->if_contains(name);
  return value && !value->is_null() ? value : nullptr;
}

std::string Reading::text(std::string_view name) const {
  const auto* value = find(name);
  if (!value) return {};
  if (!value->is_string()) refuse(name, "a text");
  return std::string{value->get_string()};
}

std::int64_t Reading::number(std::string_view name) const {
  const auto* value = find(name);
  if (!value) return 0;
  boost::json::error_code error;
  auto number = value->to_number<std::int64_t>(error);
  if (error) refuse(name, "a whole number");
  return number;
}

double Reading::fraction(std::string_view name) const {
  const auto* value = find(name);
  if (!value) return 0;
  boost::json::error_code error;
  auto number = value->to_number<double>(error);
  if (error) refuse(name, "a number");
  return number;
}

bool Reading::flag(std::string_view name) const {
  const auto* value = find(name);
  if (!value) return false;
  if (!value->is_bool()) refuse(name, "true or false");
  return value->get_bool();
}

std::vector<std::string> Reading::texts(std::string_view name) const {
  std::vector<std::string> texts;
  const auto* value = find(name);
  if (!value) return texts;
  if (!value->is_array()) refuse(name, "a list of texts");
  for (const auto& one : value->get_array()) {
    if (!one.is_string()) refuse(name, "a list of texts");
    texts.emplace_back(one.get_string());
  }
  return texts;
}

Headers Reading::headers(std::string_view name) const {
  Headers headers;
  const auto* value = find(name);
  if (!value) return headers;
  if (!value->is_object()) refuse(name, "an object of texts");
  for (const auto& [header, content] : value->get_object()) {
    if (!content.is_string()) refuse(name, "an object of texts");
    headers.emplace(header, content.get_string());
  }
  return headers;
}

std::string Reading::body(std::string_view name) const {
  const auto* value = find(name);
  if (!value) return {};
  if (value->is_string()) return std::string{value->get_string()};
  Reading body{*value, "the body"};
  auto encoding = body.text("encoding");
  if (encoding == "text") return body.text("value");
  if (encoding != "base64") refuse(name, "encoded as text or base64");
  auto bytes = from_base64(body.text("value"));
  if (!bytes) refuse(name, "valid base64");
  return *bytes;
}

Method Reading::method(std::string_view name) const {
  auto method = parse_method(text(name));
  if (!method) refuse(name, "one of get, post, put, patch, delete, head");
  return *method;
}

boost::json::value Reading::any(std::string_view name) const {
  const auto* value = find(name);
  return value ? *value : boost::json::value{};
}

}  // namespace holdfast::http
