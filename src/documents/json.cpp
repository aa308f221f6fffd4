#include "documents/json.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "recovery/plain_text.hpp"
#include "recovery/time_text.hpp"

namespace holdfast {

namespace {

// Everything that steers a terminal lies within the basic plane, so four digits are enough.
void append_escaped(std::string& out, std::string_view& rest) {
  const std::size_t size = utf8_character(rest);
  if (size == 0)
    out += "\\ufffd";
  else if (const auto code = code_point(rest, size); steers(code))
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
  else
    out.append(rest.substr(0, size));
  rest.remove_prefix(std::max<std::size_t>(size, 1));
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const char next = text.front();
    if (next == '"' || next == '\\') {
      out += '\\';
      out += next;
      text.remove_prefix(1);
    } else if (next == '\n' || next == '\t') {
      out += next == '\n' ? "\\n" : "\\t";
      text.remove_prefix(1);
    } else {
      append_escaped(out, text);
    }
  }
  return out + '"';
}

std::string json_array(const std::vector<std::string>& strings) {
  std::vector<std::string> quoted;
  for (const auto& string : strings) quoted.push_back(json_string(string));
  return json_list(quoted);
}

std::string json_line(std::string_view json) {
  std::string out;
  bool in_string = false;
  while (!json.empty()) {
    const char next = json.front();
    if (!in_string && (next == ' ' || next == '\n' || next == '\r' || next == '\t')) {
      json.remove_prefix(1);
    } else if (in_string && next == '\\' && json.size() > 1) {
      out.append(json.substr(0, 2));
      json.remove_prefix(2);
    } else {
      if (next == '"') in_string = !in_string;
      append_escaped(out, json);
    }
  }
  return out;
}

std::string time_json(const std::optional<WallTime>& time) {
  return time ? json_string(iso8601(*time)) : "";
}

JsonObject& JsonObject::text(std::string_view name, std::string_view value) {
  return json(name, json_string(value));
}

JsonObject& JsonObject::flag(std::string_view name, bool value) {
  return json(name, value ? "true" : "false");
}

JsonObject& JsonObject::fraction(std::string_view name, double value) {
  return json(name, fmt::format("{}", value));
}

JsonObject& JsonObject::json(std::string_view name, std::string_view value) {
  if (!members_.empty()) members_ += ',';
  members_ += json_string(name);
  members_ += ':';
  members_ += value.empty() ? "null" : value;
  return *this;
}

std::string json_list(const std::vector<std::string>& documents) {
  return fmt::format("[{}]", fmt::join(documents, ","));
}

}  // namespace holdfast
