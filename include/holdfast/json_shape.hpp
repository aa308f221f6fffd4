#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/describe.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>
#include <boost/json/value_to.hpp>
#include <boost/mp11/algorithm.hpp>

/// How described structs become JSON and come back. Programs use `to_payload` and `from_payload` of
/// <holdfast/payload.hpp>, which say what is promised; this is how.
namespace holdfast::detail {

/// Where in a document a reader is, as a chain on its stack: costs nothing until it is printed.
struct JsonPlace {
  const JsonPlace* parent = nullptr;  ///< none: this is the document, and `member` says which
  std::string_view member{};          ///< its name; empty: an element of an array
  std::size_t index = 0;
  /// `items[1].count`; empty: the document itself.
  std::string path() const;
};

/// Throws `UnfitPayload`: `payload does not fit its type: items[1].count: expected a number, found
/// a string`.
[[noreturn]] void unfit(const JsonPlace& at, std::string_view expected,
                        const boost::json::value& found);
/// The same where the type is right and the value is not.
[[noreturn]] void unfit(const JsonPlace& at, const std::string& why);

template <class T>
concept IdLike = requires(const T& id, std::string_view text) {
  { id.text() } -> std::convertible_to<std::string>;
  { T::parse(text) } -> std::same_as<std::optional<T>>;
};

template <class T>
concept Described = std::is_class_v<T> && boost::describe::has_describe_members<T>::value;

template <class T>
concept DescribedEnum = std::is_enum_v<T> && boost::describe::has_describe_enumerators<T>::value;

template <class T>
concept TupleLike = requires {
  std::tuple_size<T>::value;
};

template <class T>
concept MapLike = requires {
  typename T::key_type;
  typename T::mapped_type;
};

template <class T>
concept ListLike = requires(T list, typename T::value_type element) {
  list.insert(list.end(), std::move(element));
}
&&!std::convertible_to<T, std::string_view>;

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
struct IsDuration : std::false_type {};
template <class Rep, class Period>
struct IsDuration<std::chrono::duration<Rep, Period>> : std::true_type {};

/// Keys that can name the member of an object; maps with others are lists of pairs.
template <class Key>
concept NamesMember =
    std::convertible_to<Key, std::string_view> || IdLike<Key> || DescribedEnum<Key>;

template <class T>
using MembersOf = boost::describe::describe_members<T, boost::describe::mod_any_access |
                                                           boost::describe::mod_inherited>;

template <class T>
void read_json(const boost::json::value& from, T& into, const JsonPlace& at);
template <class T>
boost::json::value write_json(const T& from);

template <class T>
void read_number(const boost::json::value& from, T& into, const JsonPlace& at) {
  if (!from.is_number()) unfit(at, "a number", from);
  boost::system::error_code failed;
  into = from.to_number<T>(failed);
  if (!failed) return;
  if constexpr (std::is_integral_v<T>) {
    unfit(at, "expected a whole number from " + std::to_string(std::numeric_limits<T>::min()) +
                  " to " + std::to_string(std::numeric_limits<T>::max()));
  } else {
    unfit(at, "the number is too large");
  }
}

/// The enumerator of that name; throws with the names that there are.
template <DescribedEnum T>
T enumerator(std::string_view name, const JsonPlace& at) {
  std::optional<T> found;
  std::string names;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto one) {
    if (name == one.name) found = one.value;
    names += (names.empty() ? "" : ", ") + std::string{one.name};
  });
  if (!found) unfit(at, "'" + std::string{name} + "' is not one of " + names);
  return *found;
}

template <class T>
void read_enum(const boost::json::value& from, T& into, const JsonPlace& at) {
  if constexpr (DescribedEnum<T>) {
    if (from.is_string()) {
      into = enumerator<T>(from.get_string(), at);
      return;
    }
  }
  std::underlying_type_t<T> number{};
  read_number(from, number, at);
  into = static_cast<T>(number);
}

template <IdLike T>
T id_from(std::string_view text, const JsonPlace& at) {
  const auto id = T::parse(text);
  if (!id) unfit(at, "'" + std::string{text} + "' is not an id");
  return *id;
}

template <class Key>
Key key_from(std::string_view name, const JsonPlace& at) {
  if constexpr (IdLike<Key>) {
    return id_from<Key>(name, at);
  } else if constexpr (DescribedEnum<Key>) {
    return enumerator<Key>(name, at);
  } else {
    return Key{name};
  }
}

template <class T>
void read_struct(const boost::json::value& from, T& into, const JsonPlace& at) {
  const auto* object = from.if_object();
  if (!object) unfit(at, "an object", from);
  boost::mp11::mp_for_each<MembersOf<T>>([&](auto member) {
    const auto* value = object->if_contains(member.name);
    if (value) read_json(*value, into.*member.pointer, JsonPlace{&at, member.name});
  });
}

template <class T>
void read_tuple(const boost::json::value& from, T& into, const JsonPlace& at) {
  constexpr auto size = std::tuple_size_v<T>;
  const auto* array = from.if_array();
  if (!array) unfit(at, "an array", from);
  if (array->size() != size)
    unfit(at,
          "expected " + std::to_string(size) + " elements, found " + std::to_string(array->size()));
  [&]<std::size_t... index>(std::index_sequence<index...>) {
    (read_json((*array)[index], std::get<index>(into), JsonPlace{&at, {}, index}), ...);
  }
  (std::make_index_sequence<size>{});
}

template <class T>
void read_list(const boost::json::value& from, T& into, const JsonPlace& at) {
  const auto* array = from.if_array();
  if (!array) unfit(at, "an array", from);
  into.clear();
  for (std::size_t i = 0; i < array->size(); ++i) {
    typename T::value_type element{};
    read_json((*array)[i], element, JsonPlace{&at, {}, i});
    into.insert(into.end(), std::move(element));
  }
}

template <class T>
void read_map(const boost::json::value& from, T& into, const JsonPlace& at) {
  into.clear();
  if constexpr (NamesMember<typename T::key_type>) {
    const auto* object = from.if_object();
    if (!object) unfit(at, "an object", from);
    for (const auto& member : *object) {
      const JsonPlace place{&at, member.key()};
      typename T::mapped_type value{};
      read_json(member.value(), value, place);
      into.emplace(key_from<typename T::key_type>(member.key(), place), std::move(value));
    }
  } else {
    const auto* array = from.if_array();
    if (!array) unfit(at, "an array of pairs", from);
    for (std::size_t i = 0; i < array->size(); ++i) {
      std::pair<typename T::key_type, typename T::mapped_type> pair{};
      read_tuple((*array)[i], pair, JsonPlace{&at, {}, i});
      into.insert(std::move(pair));
    }
  }
}

template <class T>
void read_optional(const boost::json::value& from, T& into, const JsonPlace& at) {
  if (from.is_null()) return into.reset();
  read_json(from, into.emplace(), at);
}

template <class T>
void read_json(const boost::json::value& from, T& into, const JsonPlace& at) {
  if constexpr (std::is_same_v<T, boost::json::value>) {
    into = from;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!from.is_bool()) unfit(at, "true or false", from);
    into = from.get_bool();
  } else if constexpr (std::is_arithmetic_v<T>) {
    read_number(from, into, at);
  } else if constexpr (std::is_enum_v<T>) {
    read_enum(from, into, at);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!from.is_string()) unfit(at, "a string", from);
    into = from.get_string();
  } else if constexpr (IsDuration<T>::value) {
    typename T::rep count{};
    read_number(from, count, at);
    into = T{count};
  } else if constexpr (IdLike<T>) {
    if (!from.is_string()) unfit(at, "an id", from);
    into = id_from<T>(from.get_string(), at);
  } else if constexpr (IsOptional<T>::value) {
    read_optional(from, into, at);
  } else if constexpr (Described<T>) {
    read_struct(from, into, at);
  } else if constexpr (TupleLike<T>) {
    read_tuple(from, into, at);
  } else if constexpr (MapLike<T>) {
    read_map(from, into, at);
  } else if constexpr (ListLike<T>) {
    read_list(from, into, at);
  } else {
    auto value = boost::json::try_value_to<T>(from);
    if (!value) unfit(at, value.error().message());
    into = std::move(*value);
  }
}

template <class T>
boost::json::value write_struct(const T& from) {
  boost::json::object object;
  boost::mp11::mp_for_each<MembersOf<T>>(
      [&](auto member) { object[member.name] = write_json(from.*member.pointer); });
  return object;
}

template <class T>
boost::json::value write_map(const T& from) {
  if constexpr (NamesMember<typename T::key_type>) {
    boost::json::object object;
    for (const auto& [key, value] : from) {
      if constexpr (std::convertible_to<typename T::key_type, std::string_view>) {
        object[std::string_view{key}] = write_json(value);
      } else {
        object[write_json(key).get_string()] = write_json(value);
      }
    }
    return object;
  } else {
    boost::json::array array;
    for (const auto& [key, value] : from)
      array.push_back(boost::json::array{write_json(key), write_json(value)});
    return array;
  }
}

template <class T>
boost::json::value write_json(const T& from) {
  if constexpr (std::is_same_v<T, boost::json::value>) {
    return from;
  } else if constexpr (std::is_arithmetic_v<T> || std::convertible_to<T, std::string_view>) {
    return boost::json::value_from(from);
  } else if constexpr (DescribedEnum<T>) {
    const char* name = boost::describe::enum_to_string(from, nullptr);
    if (name) return boost::json::string{name};
    return write_json(static_cast<std::underlying_type_t<T>>(from));
  } else if constexpr (std::is_enum_v<T>) {
    return write_json(static_cast<std::underlying_type_t<T>>(from));
  } else if constexpr (IsDuration<T>::value) {
    return from.count();
  } else if constexpr (IdLike<T>) {
    return boost::json::string{from.text()};
  } else if constexpr (IsOptional<T>::value) {
    return from ? write_json(*from) : boost::json::value(nullptr);  // braces would make it a list
  } else if constexpr (Described<T>) {
    return write_struct(from);
  } else if constexpr (TupleLike<T>) {
    boost::json::array array;
    std::apply([&](const auto&... each) { (array.push_back(write_json(each)), ...); }, from);
    return array;
  } else if constexpr (MapLike<T>) {
    return write_map(from);
  } else if constexpr (ListLike<T>) {
    boost::json::array array;
    for (const auto& each : from) array.push_back(write_json<typename T::value_type>(each));
    return array;
  } else {
    return boost::json::value_from(from);
  }
}

}  // namespace holdfast::detail
