#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

#include <holdfast/task.hpp>

namespace holdfast::http {

enum class Method { get, post, put, patch, delete_, head };
std::string_view to_string(Method method);                  ///< `GET`
std::optional<Method> parse_method(std::string_view text);  ///< in either case
/// Sending it twice does no more than sending it once: everything but POST and PATCH.
bool is_idempotent(Method method);

/// Names are lower-case, as HTTP/2 has them; where a server sends one several times, the values are
/// joined by a comma.
using Headers = std::map<std::string, std::string>;

/// What to do with a request that may have been sent when its processor died or its connection
/// broke. Every attempt carries the same `Idempotency-Key`.
enum class OnAmbiguous {
  retry,  ///< send it again
  hold,   ///< a POST or PATCH is held, with the cause, until an operator retries or cancels it
};

/// One outbound request, as it is kept in the store.
struct Request {
  Method method = Method::get;
  std::string url{};  ///< http or https, absolute
  Headers headers{};
  /// Header name to the name of a secret, which the processor looks up when it sends. The value is
  /// in no store and no log.
  std::map<std::string, std::string> secret_headers{};
  std::string body{};               ///< bytes; not for GET, DELETE and HEAD
  std::optional<Millis> timeout{};  ///< for each hop, from connecting to the last byte
  /// How long it waits at most for a host whose circuit breaker is open (`BreakerOptions`).
  std::optional<Millis> host_patience{};
  std::optional<int> max_redirects{};  ///< 0: a redirect is an answer like any other
  /// An answer of 400 or more is an error (`ErrorType::http`).
  std::optional<bool> raise_error_responses{};
  OnAmbiguous on_ambiguous = OnAmbiguous::retry;
  std::string sign_with{};  ///< name of a signing key of the processor; empty: not signed

  std::string callback{};  ///< kind of the task that gets the answer; empty: kept as the result
  std::string callback_queue{};  ///< empty: the queue `default`
  boost::json::value context{};  ///< handed to the callback as it is

  bool operator==(const Request&) const = default;
};

/// Throws `InvalidRequest` that says what is wrong with it.
void validate(const Request& request);

/// A list of retries and waits that suits most servers: four attempts, a second and more apart.
struct Persistence {
  int attempts = 4;  ///< the first one included
  Backoff backoff{.first = Millis{1'000}, .factor = 3.0, .longest = std::chrono::minutes{10}};
};

boost::json::value to_json(const Request& request);
/// Throws `InvalidRequest` for what is not a request.
Request request_from_json(const boost::json::value& json);

}  // namespace holdfast::http
