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

/// The JSON text of a payload: any struct described with `BOOST_DESCRIBE_STRUCT`, a
/// `boost::json::value`, or whatever else Boost.JSON converts.
template <class T>
std::string to_payload(const T& value) {
  return boost::json::serialize(boost::json::value_from(value));
}

/// The way back. Throws `UnfitPayload` if the payload does not have the shape of `T`, which fails a
/// task for good.
template <class T>
T from_payload(std::string_view text) {
  auto json = parse_json(text);
  if constexpr (std::is_same_v<T, boost::json::value>) {
    return json;
  } else {
    auto value = boost::json::try_value_to<T>(json);
    if (!value)
      throw UnfitPayload{"payload does not fit the handler's type: " + value.error().message()};
    return std::move(*value);
  }
}

}  // namespace holdfast
