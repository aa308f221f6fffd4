#include "engines/postgres/address.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holdfast/error.hpp>

namespace holdfast::postgres {

namespace {

constexpr std::string_view letters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

void expect_name(std::string_view schema) {
  if (!schema.empty() && schema.size() <= 63 && schema.find_first_not_of(letters) == schema.npos &&
      !(schema[0] >= '0' && schema[0] <= '9'))
    return;
  throw ConfigError{fmt::format(
      "'{}' cannot be the schema of a store; use letters, digits and _, at most 63", schema)};
}

/// Takes a parameter that is ours; false: it is libpq's.
bool take(std::string_view parameter, Address& into, Settings& settings) {
  auto equals = parameter.find('=');
  auto name = parameter.substr(0, equals);
  auto value = equals == parameter.npos ? std::string_view{} : parameter.substr(equals + 1);
  if (name == "schema") {
    expect_name(value);
    into.schema = value;
    return true;
  }
  if (name == "batches") {
    expect_name(value);
    into.batches_schema = value;
    return true;
  }
  if (name != "durability") return false;
  if (value != "power-safe" && value != "crash-safe")
    throw ConfigError{fmt::format(
        "unknown durability '{}' in the store address; allowed: power-safe, crash-safe", value)};
  settings.durability = value == "crash-safe" ? Durability::crash_safe : Durability::power_safe;
  return true;
}

/// What is left of a list of parameters when ours are taken out.
std::string rest_of(std::string_view list, char separator, Address& into, Settings& settings) {
  std::vector<std::string_view> rest;
  while (!list.empty()) {
    auto end = list.find(separator);
    auto parameter = list.substr(0, end);
    list = end == list.npos ? std::string_view{} : list.substr(end + 1);
    if (!parameter.empty() && !take(parameter, into, settings)) rest.push_back(parameter);
  }
  return fmt::format("{}", fmt::join(rest, std::string_view{&separator, 1}));
}

using Parsed = std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)>;

/// libpq would say which it does not know in words that may quote the password.
void expect_known(std::string_view parameters) {
  const Parsed known{PQconndefaults(), PQconninfoFree};
  while (!parameters.empty()) {
    auto end = parameters.find('&');
    auto name = parameters.substr(0, std::min(end, parameters.find('=')));
    parameters = end == parameters.npos ? std::string_view{} : parameters.substr(end + 1);
    bool found = name == "ssl";  // as other libraries write it; libpq understands that
    for (auto option = known.get(); option && option->keyword; ++option)
      found = found || name == option->keyword;
    if (!found)
      throw ConfigError{fmt::format(
          "the address of the PostgreSQL store has a parameter '{}'; known are schema, batches, "
          "durability and those of libpq, such as sslmode and connect_timeout",
          name)};
  }
}

/// The address without the password, and without what nobody asked for.
std::string shown(const PQconninfoOption* options, const std::string& schema) {
  std::map<std::string_view, std::string> values;
  for (auto option = options; option->keyword; ++option)
    if (option->val) values[option->keyword] = option->val;
  auto host = values.contains("host") ? values["host"] : values["hostaddr"];
  std::string text = "postgres://";
  if (!values["user"].empty()) text += values["user"] + "@";
  text += host;
  if (!values["port"].empty()) text += ":" + values["port"];
  text += "/" + values["dbname"];
  return schema == "holdfast" ? text : text + "?schema=" + schema;
}

/// Whether what is before the host has a character that ends it for libpq, which would take the
/// rest of a password for a port or a database, and show it.
bool is_cut_short(std::string_view address) {
  auto rest = address.substr(address.find("//") + 2);
  auto at = rest.rfind('@');
  return at != rest.npos && rest.substr(0, at).find_first_of("/@") != rest.npos;
}

}  // namespace

bool is_postgres(std::string_view address) {
  return address.starts_with("postgres:") || address.starts_with("postgresql:");
}

Address parse_address(std::string_view address, Settings& settings) {
  Address parsed;
  auto colon = address.find(':');
  auto after = address.substr(colon + 1);
  if (after.starts_with("//")) {
    auto question = address.find('?');
    parsed.connection = address.substr(0, question);
    if (is_cut_short(parsed.connection))
      throw ConfigError{
          "the user or the password in the address of the PostgreSQL store has a / or @ in it; "
          "write %2F and %40 (it is not shown here because it is a secret)"};
    if (question != address.npos) {
      auto rest = rest_of(address.substr(question + 1), '&', parsed, settings);
      expect_known(rest);
      if (!rest.empty()) parsed.connection += "?" + rest;
    }
  } else {
    parsed.connection = rest_of(after, ' ', parsed, settings);
  }
  char* why = nullptr;
  Parsed options{PQconninfoParse(parsed.connection.c_str(), &why), PQconninfoFree};
  if (why) PQfreemem(why);
  // What libpq says about it may quote the password.
  if (!options)
    throw ConfigError{
        "the address of the PostgreSQL store cannot be read; write "
        "postgres://user@host/database, or postgres:host=HOST dbname=DATABASE (it is not shown "
        "here because there may be a password in it)"};
  parsed.name = shown(options.get(), parsed.schema);
  return parsed;
}

}  // namespace holdfast::postgres
