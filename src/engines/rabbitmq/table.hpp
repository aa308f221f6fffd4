#pragma once

#include "engines/rabbitmq/connection.hpp"

/// Entries of the tables in which AMQP has what is not fixed. They point to what they are made of.
namespace holdfast::rabbitmq {

inline amqp_table_entry_t entry(std::string_view name, amqp_field_value_kind_t kind) {
  amqp_table_entry_t made{};
  made.key = bytes_of(name);
  made.value.kind = static_cast<std::uint8_t>(kind);
  return made;
}

inline amqp_table_entry_t text_entry(std::string_view name, std::string_view text) {
  auto made = entry(name, AMQP_FIELD_KIND_UTF8);
  made.value.value.bytes = bytes_of(text);
  return made;
}

inline amqp_table_entry_t number_entry(std::string_view name, int number) {
  auto made = entry(name, AMQP_FIELD_KIND_I32);
  made.value.value.i32 = number;
  return made;
}

inline amqp_table_entry_t flag_entry(std::string_view name, bool flag) {
  auto made = entry(name, AMQP_FIELD_KIND_BOOLEAN);
  made.value.value.boolean = flag;
  return made;
}

inline amqp_table_entry_t table_entry(std::string_view name, amqp_table_t table) {
  auto made = entry(name, AMQP_FIELD_KIND_TABLE);
  made.value.value.table = table;
  return made;
}

}  // namespace holdfast::rabbitmq
