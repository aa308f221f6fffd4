#include <array>

#include <holdfast/http/processor.hpp>
#include <holdfast/http/request.hpp>
#include <holdfast/http/response.hpp>

#include "http/headers.hpp"

namespace holdfast::http {

namespace {

using std::string_view_literals::operator""sv;

constexpr std::array methods{"GET"sv, "POST"sv, "PUT"sv, "PATCH"sv, "DELETE"sv, "HEAD"sv};
constexpr std::array error_types{"timeout"sv,
                                 "connection"sv,
                                 "ssl"sv,
                                 "response_too_large"sv,
                                 "response_damaged"sv,
                                 "http"sv,
                                 "too_many_redirects"sv,
                                 "recursive_redirect"sv,
                                 "blocked_address"sv,
                                 "missing_secret"sv,
                                 "circuit_open"sv,
                                 "unknown"sv};
constexpr std::array states{"stopped"sv, "starting"sv, "running"sv, "draining"sv, "stopping"sv};

template <class Enum, std::size_t count>
std::optional<Enum> parse(const std::array<std::string_view, count>& names, std::string_view text) {
  for (std::size_t i = 0; i < count; ++i)
    if (lower(names[i]) == lower(text)) return static_cast<Enum>(i);
  return {};
}

}  // namespace

std::string_view to_string(Method method) { return methods.at(static_cast<std::size_t>(method)); }
std::optional<Method> parse_method(std::string_view text) { return parse<Method>(methods, text); }
bool is_idempotent(Method method) { return method != Method::post && method != Method::patch; }

std::string_view to_string(ErrorType type) {
  return error_types.at(static_cast<std::size_t>(type));
}
std::optional<ErrorType> parse_error_type(std::string_view text) {
  return parse<ErrorType>(error_types, text);
}

std::string_view to_string(ProcessorState state) {
  return states.at(static_cast<std::size_t>(state));
}

}  // namespace holdfast::http
