#include "engines/sidekiq/result.hpp"

#include <cmath>

#include <curl/curl.h>
#include <fmt/format.h>
#include <boost/json/value_from.hpp>

#include "engines/sidekiq/body.hpp"
#include "http/headers.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast::sidekiq {

namespace {

using http::ErrorType;
using http::RequestError;

bool is_redirect(const RequestError& error) {
  return error.type == ErrorType::too_many_redirects || error.type == ErrorType::recursive_redirect;
}

double nine_digits(double seconds) { return std::round(seconds * 1e9) / 1e9; }

/// A host that failed again and again is not asked any more. The gem knows no such thing, and would
/// have told how its own request failed: as the last one did.
ErrorType type_as_told(const RequestError& error) {
  if (error.type != ErrorType::circuit_open) return error.type;
  const bool timed_out = error.message.ends_with(curl_easy_strerror(CURLE_OPERATION_TIMEDOUT));
  return timed_out ? ErrorType::timeout : ErrorType::connection;
}

/// Constants that a Ruby program knows, so that it can tell them apart as it always did.
std::string class_of(const RequestError& error, const Dialect& dialect) {
  auto says = [&](std::string_view word) { return error.message.find(word) != std::string::npos; };
  switch (type_as_told(error)) {
    case ErrorType::timeout:
      return "Async::TimeoutError";
    case ErrorType::ssl:
      return "OpenSSL::SSL::SSLError";
    case ErrorType::response_too_large:
      return fmt::format("{}::ResponseTooLargeError", dialect.errors);
    case ErrorType::response_damaged:
      return "Zlib::Error";
    case ErrorType::blocked_address:
      return "SecurityError";
    case ErrorType::connection:
      break;
    default:
      return "RuntimeError";
  }
  if (says("resolve")) return "SocketError";
  if (says("reset")) return "Errno::ECONNRESET";
  return says("connect") || says("Connection refused") ? "Errno::ECONNREFUSED" : "EOFError";
}

std::string_view type_of(ErrorType type) {
  switch (type) {
    case ErrorType::timeout:
    case ErrorType::connection:
    case ErrorType::ssl:
    case ErrorType::response_too_large:
      return to_string(type);
    default:
      return "unknown";
  }
}

boost::json::value redirect_data(const RequestError& error, const std::string& location,
                                 const Dialect& dialect) {
  bool too_many = error.type == ErrorType::too_many_redirects;
  // The gem numbers the requests that redirects lead to, the first of them with 2.
  auto hop = error.redirects.size() + 1;
  return {
      {"error_class", fmt::format("{}::{}", dialect.errors,
                                  too_many ? "TooManyRedirectsError" : "RecursiveRedirectError")},
      {"url", location.empty() ? error.url : location},
      {"http_method", http::lower(to_string(error.method))},
      {"duration", nine_digits(error.duration)},
      {"request_id", hop > 1 ? fmt::format("{}/{}", error.request_id, hop) : error.request_id},
      {"redirects", boost::json::value_from(error.redirects)},
      {"callback_args", error.context}};
}

}  // namespace

boost::json::value response_data(const http::Response& response, const Dialect& dialect) {
  bool without = response.body.empty() && (response.status == 204 || response.status == 304 ||
                                           response.method == http::Method::head);
  auto type = response.header("content-type");
  return {{"status", response.status},
          {"headers", boost::json::value_from(response.headers)},
          {"body", without ? boost::json::value{} : encode_body(response.body, type, dialect)},
          {"duration", nine_digits(response.duration)},
          {"request_id", response.request_id},
          {"url", response.url},
          {"http_method", http::lower(to_string(response.method))},
          {"callback_args", response.context},
          {"redirects", boost::json::value_from(response.redirects)}};
}

boost::json::value error_data(const RequestError& error, const std::string& location,
                              const Dialect& dialect) {
  if (error.response) return {{"response", response_data(*error.response, dialect)}};
  if (is_redirect(error)) return redirect_data(error, location, dialect);
  return {{"class_name", class_of(error, dialect)},
          {"message", is_utf8(error.message) ? error.message : plain(error.message)},
          {"backtrace", boost::json::array{}},
          {"request_id", error.request_id},
          {"error_type", type_of(type_as_told(error))},
          {"duration", nine_digits(error.duration)},
          {"url", error.url},
          {"http_method", http::lower(to_string(error.method))},
          {"callback_args", error.context}};
}

std::string_view error_type(const RequestError& error) {
  if (error.response) return "http_error";
  return is_redirect(error) ? "redirect" : type_of(type_as_told(error));
}

}  // namespace holdfast::sidekiq
