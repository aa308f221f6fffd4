#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include <holdfast/error.hpp>
#include <holdfast/http/processor.hpp>
#include <holdfast/http/request.hpp>
#include <holdfast/http/response.hpp>

#include "http/secret_use.hpp"

namespace holdfast::http {

/// The circuit breaker of its host is open, or the host has no place for it for some time.
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
  /// It was sent on a pooled connection, which the server closed without an answer.
  bool dropped = false;
};

/// Names a job that is being performed.
using Ticket = std::uint64_t;

/// A request to perform, with everything in it that is to be sent. Where it came from and what
/// becomes of the answer is the business of `done`.
struct Job {
  Request request{};
  std::string id{};  ///< for messages and the answer
  /// What `secrets_for` gives out at this origin only.
  Origin bound_to{};
  Headers secrets{};
  std::vector<std::string> signing_keys{};  ///< as `signing_key` gives them; empty: not signed
  Millis timeout{0};
  Millis host_patience{0};  ///< see `Request::host_patience`
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

/// Who asks for a request. Decides with the bindings which secrets and keys it may use.
struct Asker {
  std::function<std::string()> queue{};  ///< see `SecretUse`
  std::string kind = request_kind;
  /// Parameter of the URL to the name of a secret.
  std::map<std::string, std::string> secret_params{};
  bool unbound_secrets = false;  ///< secrets without a binding may be used
};

/// The job for a request: with its URL as it is sent, its identity in headers, and the values of
/// its secrets and keys. This is the one place where these are looked up, for the origin that the
/// job goes to. Throws `InvalidRequest` for those that the options do not have or whose bindings do
/// not allow this use, `SecretUnreadable` for one that cannot be read.
Job make_job(Request request, std::string id, const Asker& asker, const ProcessorOptions& options);

/// Signs what is to be sent to `to` now, if it has keys for that origin.
void sign(Job& job, const Origin& to);
/// The headers with secrets for `to`: none unless they were looked up for that origin.
const Headers& secrets_for(const Job& job, const Origin& to);

/// Before a redirect leads it to another origin: its secrets, its keys, and every header that is
/// not known to be harmless go.
void leave_origin(Job& job);

}  // namespace holdfast::http
