#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/task.hpp>

namespace holdfast {

/// `text` as a JSON string. What would steer a terminal is escaped too, and bytes that are not
/// UTF-8 become U+FFFD, so that any reader accepts the document.
std::string json_string(std::string_view text);

/// `["a","b"]`
std::string json_array(const std::vector<std::string>& strings);

/// JSON text that we were given (a payload, a result) on one line, its numbers and keys untouched.
std::string json_line(std::string_view json);

/// As JSON; empty, which `JsonObject::json` makes null, if there is none.
std::string time_json(const std::optional<WallTime>& time);

/// Builds one JSON object, members in the order in which they are added. By hand, because a payload
/// must come out as it went in: a parser would round its large numbers.
class JsonObject {
 public:
  JsonObject& text(std::string_view name, std::string_view value);
  JsonObject& flag(std::string_view name, bool value);
  JsonObject& number(std::string_view name, std::integral auto value) {
    return json(name, std::to_string(value));
  }
  JsonObject& fraction(std::string_view name, double value);
  /// `value` is JSON already; an empty one is null.
  JsonObject& json(std::string_view name, std::string_view value);

  std::string str() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

/// `[{...},{...}]` from texts that are JSON already.
std::string json_list(const std::vector<std::string>& documents);

}  // namespace holdfast
