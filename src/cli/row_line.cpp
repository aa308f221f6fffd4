#include <fmt/format.h>
#include <boost/json.hpp>

#include <holdfast/error.hpp>

#include "cli/row_program.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

namespace json = boost::json;

/// The text of a member; empty if it is not there.
std::string text_of(const json::object& object, std::string_view name) {
  const auto* member = object.if_contains(name);
  if (!member || member->is_null()) return {};
  if (const auto* text = member->if_string()) return std::string{*text};
  return json::serialize(*member);
}

RowMessage message_of(const json::value& value) {
  // A plain text is a message, too.
  if (const auto* text = value.if_string()) return {.code = "error", .values = {text->c_str()}};
  const auto* object = value.if_object();
  if (!object) throw InvalidRequest{"a message is an object or a text"};
  RowMessage message{.code = text_of(*object, "errcode"), .field = text_of(*object, "field")};
  if (const auto* id = object->if_contains("msgid"); id && id->is_int64())
    message.id = static_cast<int>(id->get_int64());
  if (const auto* values = object->if_contains("vals"); values && values->is_array())
    for (const auto& each : values->get_array())
      message.values.push_back(each.is_string() ? std::string{each.get_string()}
                                                : json::serialize(each));
  return message;
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

RowResult result_of_line(const std::string& line) {
  const auto value = parse_json(line);
  const auto* object = value.if_object();
  if (!object) throw InvalidRequest{"the answer is not an object"};
  auto status = text_of(*object, "status");
  if (status != "success" && status != "failed")
    throw InvalidRequest{fmt::format("the status is '{}', not success or failed", status)};
  RowResult result{.success = status == "success"};
  if (const auto* given = object->if_contains("result"); given && !given->is_null())
    result.result = json::serialize(*given);
  if (const auto* messages = object->if_contains("messages"); messages && messages->is_array())
    for (const auto& each : messages->get_array()) result.messages.push_back(message_of(each));
  if (const auto* output = object->if_contains("output"); output && output->is_object())
    for (const auto& [name, text] : output->get_object())
      result.output[std::string{name}] =
          text.is_string() ? std::string{text.get_string()} : json::serialize(text);
  return result;
}

}  // namespace holdfast::cli
