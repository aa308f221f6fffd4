#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <fmt/format.h>

#include "recovery/time_text.hpp"

/// Members of JSON objects as values of ours. What is not there, or not as it must be, throws some
/// std::exception that names it; the caller says what was being read.
namespace holdfast::json_fields {

namespace json = boost::json;

inline json::string_view view(std::string_view text) { return {text.data(), text.size()}; }

inline std::string text_in(const json::object& object, std::string_view key) {
  const auto& text = object.at(view(key)).as_string();
  return {text.data(), text.size()};
}

template <class Number>
Number number_in(const json::object& object, std::string_view key) {
  return object.at(view(key)).to_number<Number>();
}

inline bool flag_in(const json::object& object, std::string_view key) {
  return object.at(view(key)).as_bool();
}

/// The value of an optional that must be there, or an error that names the field.
template <class T>
T required(std::optional<T> value, std::string_view key) {
  if (!value) throw std::invalid_argument{fmt::format("`{}` makes no sense", key)};
  return *value;
}

inline WallTime time_in(const json::object& object, std::string_view key) {
  return required(parse_iso8601(text_in(object, key)), key);
}

/// An id, or null.
template <class Id>
json::value optional_id(const std::optional<Id>& id) {
  if (!id) return nullptr;
  return json::string{id->text()};
}
template <class Id>
std::optional<Id> optional_id_in(const json::object& object, std::string_view key) {
  if (object.at(view(key)).is_null()) return {};
  return required(Id::parse(text_in(object, key)), key);
}

}  // namespace holdfast::json_fields
