#pragma once

#include <string>
#include <string_view>

#include <boost/describe.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <holdfast/error.hpp>
#include <holdfast/json_shape.hpp>

/// Typed payloads. Describe a struct with `BOOST_DESCRIBE_STRUCT`, and it can be enqueued, handed
/// to a handler, kept by a transaction or sent along with a request.
///
/// | in C++ | in JSON |
/// |---|---|
/// | described struct, base classes included | object |
/// | `bool`, numbers, `std::string` | the same |
/// | described enum | the enumerator's name; other enums: a number |
/// | `std::optional` | the value, or `null` |
/// | `std::vector` and other lists, `std::array`, `std::pair`, `std::tuple` | array |
/// | maps with strings, ids or described enums as keys | object; other maps: array of pairs |
/// | `std::chrono::duration` | number, in the unit of its type: name the unit in the member |
/// | `TaskId` and other ids | string |
/// | `boost::json::value` | anything |
/// | whatever else Boost.JSON converts | as Boost.JSON does |
///
/// Old and new versions of a program can share a store: a member that the JSON lacks keeps its
/// default, and a member that the struct lacks is ignored. So add members with a default, and do
/// not change the type or the meaning of one that exists.
namespace holdfast {

/// Parses JSON of at most 32 levels; throws `InvalidRequest` saying where it goes wrong.
boost::json::value parse_json(std::string_view text);

/// The JSON text of a value of any type in the table above.
template <class T>
std::string to_payload(const T& value) {
  return boost::json::serialize(detail::write_json(value));
}

/// The way back. Throws `UnfitPayload` if the JSON does not have the shape of `T`, naming the
/// member: `payload does not fit its type: items[1].count: expected a number, found a string`.
/// `T` must be default-constructible. `what` names the document in the error.
template <class T>
T from_payload(std::string_view text, std::string_view what = "payload") {
  T value{};
  detail::read_json(parse_json(text), value, detail::JsonPlace{nullptr, what});
  return value;
}

}  // namespace holdfast
