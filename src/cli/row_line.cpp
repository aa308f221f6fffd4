#include <fmt/format.h>
#include <boost/json.hpp>

#include <holdfast/error.hpp>

#include "cli/row_program.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

namespace json = boost::json;

std::string text_of(const json::value& value) {
  if (const auto* text = value.if_string()) return std::string{*text};
  return value.is_null() ? "" : json::serialize(value);
}

const json::array& array_of(const json::value& value, const char* what) {
  if (const auto* array = value.if_array()) return *array;
  throw InvalidRequest{fmt::format("{} are not an array", what)};
}

RowMessage message_of(const json::value& value) {
  // A plain text is a message, too.
  if (const auto* text = value.if_string()) return {.code = "error", .values = {text->c_str()}};
  const auto* object = value.if_object();
  if (!object) throw InvalidRequest{"a message is an object or a text"};
  RowMessage message;
  for (const auto& [name, member] : *object) {
    if (name == "id" || name == "msgid") {
      if (!member.is_int64()) throw InvalidRequest{"the id of a message is not a number"};
      message.id = static_cast<int>(member.get_int64());
    } else if (name == "code" || name == "errcode") {
      message.code = text_of(member);
    } else if (name == "field") {
      message.field = text_of(member);
    } else if (name == "values" || name == "vals") {
      for (const auto& each : array_of(member, "the values of a message"))
        message.values.push_back(text_of(each));
    } else {
      throw InvalidRequest{fmt::format("a message has '{}'; it can have id, code, field and values",
                                       std::string{name})};
    }
  }
  return message;
}

/// The lines of a row for one file: a text, or several in an array.
std::string output_of(const json::value& value) {
  const auto* lines = value.if_array();
  if (!lines) return text_of(value);
  std::string text;
  for (const auto& line : *lines) text += text_of(line) + "\n";
  return text;
}

void add_output(const json::value& value, RowResult& result) {
  const auto* files = value.if_object();
  if (!files) throw InvalidRequest{"the output is not an object with lines by file"};
  for (const auto& [name, lines] : *files) result.output[std::string{name}] = output_of(lines);
}

}  // namespace

std::string line_for(const RowAttempt& row) {
  return JsonObject{}
             .text("batch", row.batch.text())
             .text("app", row.app)
             .text("op", row.op)
             .number("line", row.line)
             .json("input", json_line(row.input))
             .json("context", json_line(row.context))
             .text("key", row.idempotency_key)
             .number("attempt", row.number)
             .str() +
         "\n";
}

RowResult result_of_line(const std::string& line, const std::string& key) {
  const auto value = parse_json(line);
  const auto* object = value.if_object();
  if (!object) throw InvalidRequest{"the answer is not an object"};
  auto there = [&](const char* name) {
    const auto* member = object->if_contains(name);
    return member && !member->is_null() ? member : nullptr;
  };
  auto status = there("status") ? text_of(*there("status")) : "";
  if (status != "success" && status != "failed")
    throw InvalidRequest{fmt::format("the status is '{}', not success or failed", status)};
  if (const auto* named = there("key"); named && text_of(*named) != key)
    throw InvalidRequest{fmt::format("it is for the row with the key '{}'", text_of(*named))};
  RowResult result{.success = status == "success"};
  if (const auto* given = there("result")) result.result = json::serialize(*given);
  if (const auto* messages = there("messages"))
    for (const auto& each : array_of(*messages, "the messages"))
      result.messages.push_back(message_of(each));
  if (const auto* output = there("output")) add_output(*output, result);
  return result;
}

}  // namespace holdfast::cli
