#include "engines/rabbitmq/properties.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "engines/rabbitmq/table.hpp"

namespace holdfast::rabbitmq {

namespace {

constexpr std::size_t longest_short_text = 255;  ///< of AMQP
constexpr std::uint8_t persistent = 2;

const std::string& short_text(const char* what, const std::string& text) {
  if (text.size() > longest_short_text)
    throw InvalidRequest{fmt::format("the {} of a message has {} bytes; RabbitMQ allows {}", what,
                                     text.size(), longest_short_text)};
  return text;
}

std::optional<std::int64_t> integer(const amqp_field_value_t& field) {
  switch (field.kind) {
    case AMQP_FIELD_KIND_I8:
      return field.value.i8;
    case AMQP_FIELD_KIND_U8:
      return field.value.u8;
    case AMQP_FIELD_KIND_I16:
      return field.value.i16;
    case AMQP_FIELD_KIND_U16:
      return field.value.u16;
    case AMQP_FIELD_KIND_I32:
      return field.value.i32;
    case AMQP_FIELD_KIND_U32:
      return field.value.u32;
    case AMQP_FIELD_KIND_I64:
      return field.value.i64;
    default:
      return {};
  }
}

}  // namespace

Properties::Properties(const std::string& id, const MessageHeaders& headers) {
  properties_._flags = AMQP_BASIC_DELIVERY_MODE_FLAG;
  properties_.delivery_mode = persistent;
  if (!id.empty()) {
    properties_._flags |= AMQP_BASIC_MESSAGE_ID_FLAG;
    properties_.message_id = bytes_of(short_text("id", id));
  }
  if (headers.empty()) return;
  for (const auto& [name, value] : headers)
    entries_.push_back(text_entry(short_text("name of a header", name), value));
  properties_._flags |= AMQP_BASIC_HEADERS_FLAG;
  properties_.headers = {static_cast<int>(entries_.size()), entries_.data()};
}

ReceivedProperties read_properties(const amqp_basic_properties_t& properties) {
  ReceivedProperties read;
  if (properties._flags & AMQP_BASIC_MESSAGE_ID_FLAG) read.id = view(properties.message_id);
  if (!(properties._flags & AMQP_BASIC_HEADERS_FLAG)) return read;
  for (int i = 0; i < properties.headers.num_entries; ++i) {
    const auto& entry = properties.headers.entries[i];
    auto name = view(entry.key);
    auto value = integer(entry.value);
    if (name == "x-delivery-count" && value)
      read.returns = static_cast<int>(std::clamp<std::int64_t>(*value, 0, 1'000'000));
    if (name.starts_with("x-")) continue;
    bool text =
        entry.value.kind == AMQP_FIELD_KIND_UTF8 || entry.value.kind == AMQP_FIELD_KIND_BYTES;
    if (text) read.headers.emplace(name, view(entry.value.value.bytes));
    if (value) read.headers.emplace(name, std::to_string(*value));
  }
  return read;
}

}  // namespace holdfast::rabbitmq
