#pragma once

#include <string>

#include <holdfast/results.hpp>

namespace holdfast::results {

/// The queue that is told that a result is complete: what its request names as `notifyQueue`, or
/// else that of the options. Throws `InvalidRequest` for one that a request may not name: clients
/// must not write into queues of others by way of a notice.
std::string notify_queue_of(const std::string& request_json, const Options& options);

/// Throws `ConfigError` for queues and prefixes of the options that no request could ever name, and
/// for those that would allow everything.
void check_notify_queues(const Options& options);

}  // namespace holdfast::results
