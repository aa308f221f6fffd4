#include <fmt/format.h>

#include "engines/postgres/connection.hpp"
#include "tasks/state_numbers.hpp"

namespace holdfast::postgres {

namespace {

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

/// In a query of its own it is read once and can be compared with an index.
constexpr std::string_view server_wall =
    "(SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint)";
constexpr std::string_view server_micros =
    "(SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)";
constexpr std::string_view manual_wall = "(SELECT current_setting('holdfast.wall')::bigint)";
constexpr std::string_view manual_steady = "(SELECT current_setting('holdfast.steady')::bigint)";
constexpr std::string_view manual_micros =
    "(SELECT current_setting('holdfast.wall')::bigint * 1000)";

}  // namespace

Dialect::Dialect(const Address& address, const Clock& clock)
    : address_{address}, manual_{&clock == &system_clock() ? nullptr : &clock} {}

std::string Dialect::expand(std::string_view sql) const {
  auto text = with_state_numbers(sql);
  replace_all(text, "hf.", fmt::format("\"{}\".", address_.schema));
  replace_all(text, "alya.", fmt::format("\"{}\".", address_.batches()));
  replace_all(text, "{wall}", manual_ ? manual_wall : server_wall);
  replace_all(text, "{steady}", manual_ ? manual_steady : server_wall);
  replace_all(text, "{micros}", manual_ ? manual_micros : server_micros);
  return text;
}

}  // namespace holdfast::postgres
