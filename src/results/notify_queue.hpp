#pragma once

#include <string>

#include <holdfast/results.hpp>

namespace holdfast::results {

/// The queue that is told that a result is complete: what its request names as `notifyQueue`, or
/// else that of the options. Throws `InvalidRequest` for one that a request may not name: clients
/// must not write into queues of others by way of a notice.
std::string notify_queue_of(const std::string& request_json, const Options& options);

/// Throws `ConfigError` for queues of the options that are reserved, for those whose notices would
/// be read as requests, and for prefixes that no request could ever name or that allow everything.
void check_queues(const Options& options);

}  // namespace holdfast::results
