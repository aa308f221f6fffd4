#pragma once

#include <string>

#include "engines/sidekiq/request_job.hpp"

namespace holdfast::sidekiq {

/// Texts of jobs as Sidekiq writes them.

/// For the application: `type` is `response` or `error`.
std::string callback_text(const RequestJob& of, const boost::json::value& result,
                          std::string_view type, const std::string& queue, const Dialect& dialect,
                          SystemTime now);

/// The same job after another failure.
std::string failed_text(const boost::json::object& job, std::string_view error_class,
                        const std::string& message, SystemTime now);

/// The same job as one that may have been sent, or killed its processes, and is not sent again.
std::string not_sent_again_text(const boost::json::object& job, const std::string& why,
                                SystemTime now);

/// The same job once more on its queue.
std::string again_text(const boost::json::object& job, SystemTime now);

/// How often it was taken from a process that died. Kept in the job itself, because it goes
/// through queues that are not ours.
int recoveries_of(const boost::json::object& job);
void set_recoveries(boost::json::object& job, int count);

/// The queue that it belongs on.
std::string queue_of(const boost::json::object& job);

/// Seconds until a job that has failed so often is tried again.
double retry_delay(int failures);

/// Random lower-case hex digits.
std::string random_hex(std::size_t digits);

}  // namespace holdfast::sidekiq
