#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/http/payloads.hpp>
#include <holdfast/http/request.hpp>
#include <holdfast/http/secrets.hpp>
#include <holdfast/worker.hpp>

namespace holdfast::http {

/// Where a processor may connect to. Checked on the address of every connection, after names were
/// resolved, for every hop of a redirect.
struct EgressOptions {
  /// Everything goes: loopback, private networks, metadata services. For tests and intranets.
  bool allow_private = false;
  /// Exceptions: networks (`10.1.0.0/16`, `fd00::/8`) and hosts (`intranet.example.org`).
  std::vector<std::string> allow{};
};

/// A circuit breaker for each host. After several failures in a row it opens: nothing is sent to
/// the host for the pause, then one request shows how the host is, and the next pause begins or the
/// breaker closes. Requests wait for that, uncharged, but only as long as their patience lasts,
/// which begins when the breaker opens: then they fail with `ErrorType::circuit_open`, and their
/// callbacks hear of it.
struct BreakerOptions {
  int failures = 10;  ///< in a row, after which it opens; 0: never
  Millis pause{15'000};
  /// Where the request does not say; 0: it fails at once. Not given: a minute, and at once for
  /// `SidekiqProcessor`.
  std::optional<Millis> patience{};
};

/// `automatic`: HTTP/2 where a server offers it over TLS. Some proxies cannot bear that.
enum class HttpVersion { automatic, http1 };

struct ProcessorOptions {
  std::vector<std::string> queues{};  ///< empty: all
  int capacity = 256;                 ///< requests in flight; more wait in the store
  int per_host = 0;                   ///< of them to one host; 0: as many as there are
  int idle_connections = 100;         ///< kept open for the next request; at least `capacity`
  Millis idle_timeout{60'000};        ///< so long
  Millis connect_timeout{10'000};
  Millis request_timeout{60'000};  ///< for each hop, where the request does not say
  int max_redirects = 5;           ///< where the request does not say; 0: none is followed
  std::size_t max_response_bytes = 1'048'576;  ///< as sent and as decoded
  bool raise_error_responses = false;          ///< where the request does not say
  std::string user_agent = "holdfast";
  std::string proxy{};    ///< http:// or https:// URL; addresses are the proxy's affair then
  std::string ca_file{};  ///< trusted certificates (PEM); empty: the system's
  Millis dns_cache{60'000};
  HttpVersion version = HttpVersion::automatic;
  EgressOptions egress{};
  BreakerOptions breaker{};
  PayloadOptions payloads{};
  /// A secret by its name; nothing: not known. A request that names one which is not known, or
  /// whose binding does not allow it, fails for good, with `ErrorType::missing_secret`. Throwing
  /// says that there is one and that it cannot be read now: the request is given back, uncharged,
  /// and the processor takes fewer or none for a while (see `CannotBegin`). So it must not throw
  /// for names that were never configured: callers choose the names.
  ///
  ///     options.secrets = [](const std::string& name) -> std::optional<Secret> {
  ///       if (name != "token") return {};
  ///       return Secret{read_token(), {.hosts = {"api.example.org"}}};
  ///     };
  std::function<std::optional<Secret>(const std::string&)> secrets{};
  /// Signing keys by name (`whsec_` and base64, or bytes), the current one first: during a change
  /// of keys, requests carry a signature of each, and the bindings of all of them must allow that.
  /// One that is not here is like a secret that is not known.
  std::map<std::string, std::vector<Secret>> signing_keys{};
  bool until_empty = false;  ///< end when no request is left
};

/// Throws `ConfigError` naming the first value that makes no sense.
void validate(const ProcessorOptions& options);

/// `draining`: takes nothing more and completes what is in flight; `stopping`: the same, in order
/// to end.
enum class ProcessorState { stopped, starting, running, draining, stopping };
std::string_view to_string(ProcessorState state);

/// What a processor did.
struct ProcessorSummary {
  WorkerSummary tasks{};
  std::int64_t answered = 0;  ///< by a server, with whatever status
  std::int64_t errors = 0;    ///< attempts without an answer
};

/// Performs requests: one thread, one event loop, thousands of connections.
class Processor {
 public:
  explicit Processor(Engine engine, ProcessorOptions options = {});
  ~Processor();
  Processor(const Processor&) = delete;
  Processor& operator=(const Processor&) = delete;

  /// Works until `quiet` or `stop` was asked for (or, with `until_empty`, nothing is left). From
  /// the state `stopped` only, and so once.
  ProcessorSummary run();

  /// Takes nothing more, lets what is in flight end, and stays until it is told to end: what
  /// Sidekiq calls quiet. Until then it is known to others by its heartbeats, and keeps what it
  /// holds. There is no way back. From any thread.
  void rest();
  /// Takes nothing more, lets what is in flight end for the drain timeout of the settings, gives
  /// the rest back uncharged, and ends.
  void quiet();
  /// The same at once.
  void stop();

  ProcessorState state() const;
  int in_flight() const;

 private:
  class State;
  std::shared_ptr<State> impl_;
};

}  // namespace holdfast::http
