#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include <holdfast/http/request.hpp>

namespace holdfast::http {

/// What a server answered.
struct Response {
  int status = 0;
  Headers headers{};
  std::string body{};   ///< decoded (gzip and the like), otherwise as it came: any bytes
  double duration = 0;  ///< seconds, of the last hop
  std::string request_id{};
  std::string url{};  ///< of the last hop
  Method method = Method::get;
  std::vector<std::string> redirects{};  ///< where it went before `url`, in order
  boost::json::value context{};          ///< what the request had

  bool success() const { return status >= 200 && status < 300; }
  bool client_error() const { return status >= 400 && status < 500; }
  bool server_error() const { return status >= 500; }
  /// The body as JSON; throws `InvalidRequest` if it is none.
  boost::json::value json() const;
  /// The value of a header, in whatever case it is asked for; empty: there is none.
  std::string_view header(std::string_view name) const;

  bool operator==(const Response&) const = default;
};

enum class ErrorType {
  timeout,
  connection,  ///< no such host, refused, reset, broken off, or not HTTP
  ssl,
  response_too_large,
  response_damaged,  ///< compressed, and cannot be decoded
  http,              ///< 400 and more, where the request asked for that to be an error
  too_many_redirects,
  recursive_redirect,
  blocked_address,  ///< where the processor may not connect to
  missing_secret,   ///< or signing key: the processor does not have it
  circuit_open,     ///< the host failed again and again, and was not asked; the message says how
  unknown,
};
std::string_view to_string(ErrorType type);
std::optional<ErrorType> parse_error_type(std::string_view text);

/// Why there is no answer.
struct RequestError {
  ErrorType type = ErrorType::unknown;
  std::string message{};
  double duration = 0;
  std::string request_id{};
  std::string url{};
  Method method = Method::get;
  std::vector<std::string> redirects{};
  boost::json::value context{};
  std::optional<Response> response{};  ///< for `http`

  bool operator==(const RequestError&) const = default;
};

std::string json_text(const Response& response);
boost::json::value to_json(const Response& response);
boost::json::value to_json(const RequestError& error);
/// Throw `InvalidRequest` for what they cannot read.
Response response_from_json(const boost::json::value& json);
RequestError error_from_json(const boost::json::value& json);

}  // namespace holdfast::http
