#include <fmt/format.h>
#include <holdfast/error.hpp>
#include <holdfast/http/sidekiq.hpp>

namespace holdfast::http {

namespace {

void check(bool good, const std::string& what) {
  if (!good) throw ConfigError{what};
}

}  // namespace

void validate(const SidekiqOptions& options) {
  constexpr Millis day = std::chrono::hours{24};
  validate(options.processor);
  for (const auto& queue : options.processor.queues) check(!queue.empty(), "a queue has no name");
  check(options.heartbeat_interval >= Millis{1'000} && options.heartbeat_interval <= day,
        fmt::format("the heartbeat interval is {} ms; a second to a day is allowed",
                    options.heartbeat_interval.count()));
  check(options.orphan_threshold > options.heartbeat_interval && options.orphan_threshold <= day,
        fmt::format("the orphan threshold is {} ms; it must be longer than the heartbeat interval "
                    "({} ms), and a day at most",
                    options.orphan_threshold.count(), options.heartbeat_interval.count()));
  check(options.shutdown_timeout >= Millis{0} && options.shutdown_timeout <= day,
        fmt::format("the shutdown timeout is {} ms; at most a day is allowed",
                    options.shutdown_timeout.count()));
  check(options.retries >= 0 && options.retries <= 100,
        fmt::format("retries are {}; 0 to 100 is allowed", options.retries));
  check(
      options.max_recoveries >= 0 && options.max_recoveries <= 1'000,
      fmt::format("recoveries of a request are {}; 0 to 1000 is allowed", options.max_recoveries));
  check(!options.processor.payloads.blobs && options.processor.payloads.keyring.current.empty(),
        "Sidekiq's requests have their own ways to be kept apart and encrypted; blobs and keys are "
        "for other stores");
  check(options.processor.signing_keys.empty(),
        "Sidekiq's requests cannot ask to be signed; signing keys are for other stores");
}

}  // namespace holdfast::http
