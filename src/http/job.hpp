#pragma once

#include <functional>
#include <string>
#include <variant>

#include <holdfast/http/request.hpp>
#include <holdfast/http/response.hpp>

namespace holdfast::http {

/// Its host fails all the time and is left alone; nothing was sent.
struct Postponed {
  Millis wait{0};
};
/// Whoever asked for it does not want it any more.
struct Cancelled {};

/// How the performance of a request ended.
struct Answer {
  std::variant<Response, RequestError, Postponed, Cancelled> what{Cancelled{}};
  bool maybe_sent = false;  ///< false: certainly not a byte of the request has left
};

/// A request to perform, with everything in it that is to be sent. Where it came from and what
/// becomes of the answer is the business of `done`.
struct Job {
  Request request{};
  std::string id{};   ///< for messages and the answer
  Headers secrets{};  ///< header values that must not go to another origin
  Millis timeout{0};
  int max_redirects = 0;
  /// Called once, in the loop's thread.
  std::function<void(Answer)> done{};
};

}  // namespace holdfast::http
