#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include <boost/json/object.hpp>

#include <holdfast/http/request.hpp>

#include "engines/sidekiq/dialect.hpp"

namespace holdfast::sidekiq {

using SystemTime = std::chrono::system_clock::time_point;

/// A job that asks for a request, as the gem's client enqueued it.
struct RequestJob {
  boost::json::object job{};                           ///< all of it
  http::Request request{};                             ///< its context is the callback's arguments
  std::map<std::string, std::string> secret_params{};  ///< parameter to the name of a secret
  std::string callback{};                              ///< a class of the application
  std::string id{};                                    ///< the request's, made by the client

  /// How often it failed before, as Sidekiq counts.
  int failures() const;
  /// How often it may fail; nothing: never, it is dropped then.
  std::optional<int> most_failures() const;
};

/// The key of a payload that is kept apart from its job, if that is so.
std::optional<std::string> payload_reference(const boost::json::object& job);

/// All of it is UTF-8 afterwards: a body that was not is kept as bytes, and in the callback's
/// arguments U+FFFD stands for what is not. Throws `InvalidRequest` for what is not a JSON object,
/// and where such bytes are anywhere else.
boost::json::object parse_job(const std::string& text);

/// Reads the job; `payload` is what was kept apart. Throws `InvalidRequest`.
RequestJob read_request_job(boost::json::object job, const std::string& payload);

/// Since Sidekiq 8 times are whole milliseconds; before, they were seconds with a fraction. A job
/// goes on in the style that it has.
boost::json::value time_in_style_of(const boost::json::object& job, SystemTime now);

}  // namespace holdfast::sidekiq
