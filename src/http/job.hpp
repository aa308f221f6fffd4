#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include <holdfast/error.hpp>
#include <holdfast/http/processor.hpp>
#include <holdfast/http/request.hpp>
#include <holdfast/http/response.hpp>

namespace holdfast::http {

/// Its host fails all the time and is left alone, or has no place for it for some time.
struct Postponed {
  Millis wait{0};
};
/// Whoever asked for it does not want it any more.
struct Cancelled {};

/// How the performance of a request ended.
struct Answer {
  std::variant<Response, RequestError, Postponed, Cancelled> what{Cancelled{}};
  bool maybe_sent = false;  ///< false: certainly not a byte of the request has left
  std::string location{};   ///< where a redirect led that was not followed
  int status = 0;           ///< of an answer that came and cannot be read; 0: there is none
};

/// Names a job that is being performed.
using Ticket = std::uint64_t;

/// A request to perform, with everything in it that is to be sent. Where it came from and what
/// becomes of the answer is the business of `done`.
struct Job {
  Request request{};
  std::string id{};   ///< for messages and the answer
  Headers secrets{};  ///< header values that must not go to another origin
  Millis timeout{0};
  int max_redirects = 0;
  /// Where its host has no place and others wait for one already, it ends as `Postponed`. If not,
  /// it waits here for however long that takes.
  bool gives_way = false;
  /// Called once, in the loop's thread, when the host has a place for it and before its first byte
  /// leaves; `Loop::go_on` then sends it. None: it is sent without that.
  std::function<void(Ticket)> about_to_send{};
  /// Called once, in the loop's thread.
  std::function<void(Answer)> done{};
};

/// There is a secret of this name and it cannot be read, now: next time it may be.
class SecretUnreadable : public InvalidRequest {
  using InvalidRequest::InvalidRequest;
};

/// The job for a request: with its URL as it is sent, its identity in headers, and the values of
/// its secrets. Throws `InvalidRequest` for secrets and keys that the options do not have,
/// `SecretUnreadable` for one that they have.
Job make_job(Request request, std::string id, const ProcessorOptions& options);

/// Signs what is to be sent now, if its request asks for that. Throws `InvalidRequest` for a key
/// that the options do not have.
void sign(Job& job, const ProcessorOptions& options);
/// For another origin, which could show a signature to the one that it was made for.
void unsign(Job& job);

/// The value of a secret; throws `InvalidRequest` if there is none, `SecretUnreadable` if whoever
/// looks it up throws.
std::string secret_named(const std::string& name, const ProcessorOptions& options);

}  // namespace holdfast::http
