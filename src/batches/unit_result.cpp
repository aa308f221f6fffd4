#include "batches/unit_result.hpp"

#include <array>
#include <boost/json.hpp>
#include <cstring>

#include <holdfast/payload.hpp>

namespace holdfast {

namespace {

/// What the original says where a row fails without a word of its processor.
constexpr int processing_error_id = 10;
constexpr std::string_view processing_error = "processing_error";

/// Everything but the texts, in front of them.
struct Head {
  BatchStatus status;
  std::uint32_t result;
  std::uint32_t messages;
  BatchCounts counts;
};

}  // namespace

std::string pack(const UnitResult& result) {
  Head head{result.status, static_cast<std::uint32_t>(result.result.size()),
            static_cast<std::uint32_t>(result.messages.size()), result.counts};
  std::string packed(sizeof head, '\0');
  std::memcpy(packed.data(), &head, sizeof head);
  return packed + result.result + result.messages + result.output;
}

UnitResult unpack_result(std::string_view packed) {
  Head head;
  std::memcpy(&head, packed.data(), sizeof head);
  packed.remove_prefix(sizeof head);
  UnitResult result{.status = head.status, .counts = head.counts};
  result.result = packed.substr(0, head.result);
  result.messages = packed.substr(head.result, head.messages);
  result.output = packed.substr(head.result + head.messages);
  return result;
}

std::string messages_json(const std::vector<RowMessage>& messages) {
  if (messages.empty()) return {};
  boost::json::array list;
  for (const auto& message : messages) {
    boost::json::object one{{"msgid", message.id}, {"errcode", message.code}};
    if (!message.field.empty()) one["field"] = message.field;
    if (!message.values.empty()) one["vals"] = boost::json::value_from(message.values);
    list.push_back(std::move(one));
  }
  return boost::json::serialize(list);
}

std::string messages_about(std::string_view reason) {
  return messages_json(
      {{processing_error_id, std::string{processing_error}, {}, {std::string{reason}}}});
}

RowResult row_failed(std::string code, std::string what) {
  RowResult result{.success = false};
  result.messages.push_back({processing_error_id, std::move(code), {}, {std::move(what)}});
  return result;
}

std::string names_json(const std::map<std::string, std::string>& by_name) {
  if (by_name.empty()) return {};
  boost::json::object names;
  for (const auto& [name, value] : by_name) names[name] = value;
  return boost::json::serialize(names);
}

std::map<std::string, std::string> names_from_json(std::string_view json) {
  std::map<std::string, std::string> names;
  if (json.empty()) return names;
  auto value = parse_json(json);
  // What others wrote into tables that we share may be anything.
  if (!value.is_object()) return names;
  for (const auto& [name, text] : value.get_object())
    if (text.is_string()) names.emplace(std::string{name}, std::string{text.get_string()});
  return names;
}

}  // namespace holdfast
