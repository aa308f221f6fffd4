#pragma once

#include <string>
#include <type_traits>

#include <boost/describe.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>
#include <boost/json/value_to.hpp>

#include <holdfast/error.hpp>

namespace holdfast {

/// Parses JSON of at most 32 levels; throws `InvalidRequest` saying where it goes wrong.
boost::json::value parse_json(std::string_view text);

namespace detail {

/// Boost.JSON takes a struct without members for an empty tuple; here it is an empty object.
template <class T>
constexpr bool has_no_members() {
  if constexpr (boost::describe::has_describe_members<T>::value) {
    using Members = boost::describe::describe_members<T, boost::describe::mod_any_access>;
    return boost::mp11::mp_empty<Members>::value;
  } else {
    return false;
  }
}

}  // namespace detail

/// The JSON text of a payload: any struct described with `BOOST_DESCRIBE_STRUCT`, a
/// `boost::json::value`, or whatever else Boost.JSON converts.
template <class T>
std::string to_payload([[maybe_unused]] const T& value) {
  if constexpr (detail::has_no_members<T>()) {
    return "{}";
  } else {
    return boost::json::serialize(boost::json::value_from(value));
  }
}

/// The way back. Throws `UnfitPayload` if the payload does not have the shape of `T`, which fails a
/// task for good.
template <class T>
T from_payload(std::string_view text) {
  auto json = parse_json(text);
  if constexpr (std::is_same_v<T, boost::json::value>) {
    return json;
  } else if constexpr (detail::has_no_members<T>()) {
    if (!json.is_object())
      throw UnfitPayload{"payload does not fit the handler's type: not an object"};
    return T{};
  } else {
    auto value = boost::json::try_value_to<T>(json);
    if (!value)
      throw UnfitPayload{"payload does not fit the handler's type: " + value.error().message()};
    return std::move(*value);
  }
}

}  // namespace holdfast
