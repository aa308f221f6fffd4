#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/events.hpp>
#include <holdfast/http/left_alone.hpp>
#include <holdfast/http/processor.hpp>

namespace holdfast::http {

/// How requests of a Ruby application are performed: it enqueues them as Sidekiq jobs (the gems
/// sidekiq-async_http and patient_http), and gets the answers as Sidekiq jobs. docs/sidekiq.md.
struct SidekiqOptions {
  /// `queues` empty: `default`. Payload options and signing keys are refused: the gems have their
  /// own ways.
  ProcessorOptions processor{};
  std::string callback_queue{};  ///< empty: the queue that the request came from
  Millis heartbeat_interval{60'000};
  /// So long may a process be silent before its requests are taken from it. Less is waited where
  /// the server says that a process of ours is gone.
  Millis orphan_threshold{300'000};
  Millis shutdown_timeout{23'000};  ///< for what is in flight when it is told to end
  /// Connections that fail are tried again so often before the application hears of it, unless a
  /// POST or PATCH may have been sent.
  int retries = 3;
  int max_recoveries = 3;  ///< a request that died with its process more often becomes a dead job
  /// `hold`: a POST or PATCH that may have been sent when its process died, or when it was broken
  /// off, becomes a dead job. Costs a write to Redis right before it is sent.
  OnAmbiguous on_ambiguous = OnAmbiguous::retry;
  /// The gem's secrets have no bindings. Where this is false, a secret without a binding goes
  /// wherever a job asks for it; one with a binding never does.
  bool require_bound_secrets = false;
  /// What is worth knowing, one sentence at a time.
  std::function<void(Severity, const std::string&)> log{};
};

/// Throws `ConfigError` naming the first value that makes no sense.
void validate(const SidekiqOptions& options);

/// Whether it begins with `sidekiq+`:
///
///     sidekiq+redis://host:6379/0                         the gem sidekiq-async_http
///     sidekiq+redis://host:6379/0?dialect=patient_http    its successor
///
/// and everything else that the address of a Redis server may have, but no cluster.
bool is_sidekiq_address(std::string_view address);

struct SidekiqSummary {
  std::int64_t answered = 0;    ///< by a server, with whatever status
  std::int64_t errors = 0;      ///< performed without an answer
  std::int64_t callbacks = 0;   ///< jobs pushed for the application
  std::int64_t retried = 0;     ///< put into Sidekiq's retry set
  std::int64_t died = 0;        ///< put into its dead set
  std::int64_t discarded = 0;   ///< failed, and their jobs want to be in neither
  std::int64_t given_back = 0;  ///< to their queue, when this processor ended
  std::int64_t refused = 0;     ///< not delivered, because another process had them by then
  std::int64_t recovered = 0;   ///< taken from processes that died
};

/// Performs the requests of a Sidekiq application.
class SidekiqProcessor {
 public:
  /// Throws `ConfigError` for what makes no sense, `StoreUnusable` for a server that cannot be used
  /// (a cluster, one that evicts keys) and `StoreError` for one that cannot be reached.
  explicit SidekiqProcessor(std::string_view address, SidekiqOptions options = {});
  ~SidekiqProcessor();
  SidekiqProcessor(const SidekiqProcessor&) = delete;
  SidekiqProcessor& operator=(const SidekiqProcessor&) = delete;

  /// Works until `quiet` or `stop` was asked for, here or on Sidekiq's web page. Once.
  SidekiqSummary run();

  /// Takes nothing more, lets what is in flight end, and stays until it is told to end: what
  /// Sidekiq calls quiet. Like there, there is no way back.
  void rest();
  /// Takes nothing more, gives what is in flight the shutdown timeout, and ends.
  void quiet();
  /// The same at once: what is in flight goes back to its queue (but see `on_ambiguous`).
  void stop();

  ProcessorState state() const;
  int in_flight() const;  ///< without those that wait for a place at their host

 private:
  class State;
  std::unique_ptr<State> impl_;
};

/// A request in flight, of whatever process.
struct SidekiqRequest {
  std::string id;
  std::string process;
  Millis silence{0};            ///< since its process was heard of
  std::optional<Millis> age{};  ///< since it was taken; nothing: by a process of the gem
  std::string method;
  std::string url;
};

struct SidekiqProcess {
  std::string id;
  int capacity = 0;  ///< 0: not heard of any more
  std::int64_t in_flight = 0;
  std::int64_t waiting = 0;  ///< in its hands, for a place at their host; not in flight
  std::string state{};       ///< see `ProcessorState`; empty: not one of ours
  std::string trouble{};     ///< why requests cannot begin there now; empty: they can
};

/// How long requests took that processes of ours performed, in seconds. They are counted in
/// classes: what is said here is wrong by an eighth at most.
struct SidekiqTimes {
  std::int64_t measured = 0;
  double p50 = 0, p95 = 0, p99 = 0;
};

/// What Sidekiq's Redis says about requests.
struct SidekiqStatus {
  std::vector<SidekiqRequest> in_flight{};  ///< those that were heard of longest ago first
  std::int64_t in_flight_count = 0;
  std::vector<SidekiqProcess> processes{};
  std::map<std::string, std::int64_t> queues{};  ///< jobs that wait, of whatever class
  std::map<std::string, double> totals{};        ///< as the gem names them
  SidekiqTimes times{};
  std::vector<LeftAlone> left_alone{};  ///< hosts that processors of ours leave alone now
};
SidekiqStatus sidekiq_status(std::string_view address, int most_in_flight = 50);

}  // namespace holdfast::http
