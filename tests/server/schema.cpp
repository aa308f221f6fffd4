#include <algorithm>

#include <fmt/format.h>

#include "server/server_under_test.hpp"

namespace holdfast::test {

namespace {

namespace json = boost::json;

bool is_of_type(const json::value& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_bool();
  if (type == "null") return value.is_null();
  if (type == "integer") return value.is_int64() || value.is_uint64();
  return value.is_number();
}

bool fits_type(const json::value& value, const json::value& types) {
  auto fits = [&](const json::value& type) {
    return is_of_type(value, {type.as_string().data(), type.as_string().size()});
  };
  return types.is_array() ? std::ranges::any_of(types.as_array(), fits) : fits(types);
}

const json::value& resolve(const json::value& reference, const json::value& document) {
  const json::value* at = &document;
  std::string_view path{reference.as_string().data(), reference.as_string().size()};
  path.remove_prefix(2);
  while (!path.empty()) {
    const auto slash = std::min(path.find('/'), path.size());
    at = &at->at(json::string_view{path.data(), slash});
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return *at;
}

std::string object_misfit(const json::object& value, const json::object& schema,
                          const json::value& document, const std::string& where) {
  const auto* properties = schema.if_contains("properties");
  const auto* others = schema.if_contains("additionalProperties");
  if (const auto* required = schema.if_contains("required"))
    for (const auto& name : required->as_array())
      if (!value.contains(name.as_string()))
        return fmt::format("{}: {} is missing", where, name.as_string().c_str());
  for (const auto& [name, member] : value) {
    const std::string place = where + "." + std::string{name};
    const auto* known = properties ? properties->as_object().if_contains(name) : nullptr;
    if (!known && others && others->is_object()) known = others;
    if (!known && others && others->is_bool() && !others->as_bool())
      return place + " is not in the document";
    if (!known) continue;
    if (auto fault = misfit(member, *known, document, place); !fault.empty()) return fault;
  }
  return {};
}

}  // namespace

std::string misfit(const json::value& value, const json::value& schema, const json::value& document,
                   const std::string& where) {
  const auto& rules = schema.as_object();
  if (const auto* reference = rules.if_contains("$ref"))
    return misfit(value, resolve(*reference, document), document, where);
  if (const auto* choices = rules.if_contains("oneOf")) {
    const bool any = std::ranges::any_of(choices->as_array(), [&](const json::value& choice) {
      return misfit(value, choice, document, where).empty();
    });
    return any ? "" : where + " fits none of the choices";
  }
  if (const auto* types = rules.if_contains("type"); types && !fits_type(value, *types))
    return where + " is of another type";
  if (const auto* allowed = rules.if_contains("enum"))
    if (std::ranges::find(allowed->as_array(), value) == allowed->as_array().end())
      return where + " is none of the values that the document has";
  if (value.is_object()) return object_misfit(value.as_object(), rules, document, where);
  if (const auto* items = rules.if_contains("items"); items && value.is_array())
    for (const auto& each : value.as_array())
      if (auto fault = misfit(each, *items, document, where + "[]"); !fault.empty()) return fault;
  return {};
}

}  // namespace holdfast::test
