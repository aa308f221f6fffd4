#pragma once

#include <holdfast/http/sidekiq.hpp>

#include "engines/sidekiq/registry.hpp"
#include "engines/sidekiq/request_job.hpp"
#include "http/job.hpp"

namespace holdfast::sidekiq {

enum class EndKind { callback, retried, died, dropped, given_back, postponed };

/// What becomes of a request, and of the totals.
struct Ending {
  EndKind kind = EndKind::callback;
  std::vector<Effect> effects{};
  std::vector<std::pair<std::string, double>> totals{};
  std::optional<double> took{};  ///< seconds, where the application is told how it went
  /// It comes back in so many seconds, and nothing is wrong with it: the other side was away.
  std::optional<double> back_in{};
  std::string why{};  ///< empty: nobody needs to know
};

/// Where a job is from.
struct Origin {
  std::string queue;
  std::string text;
  std::string payload_key{};  ///< of a payload that was kept apart; empty: there is none
};

/// The policy after a request was performed: answers and errors go to the application; connections
/// that failed are tried again first.
Ending decide_ending(const RequestJob& job, const http::Answer& answer, const Origin& origin,
                     const http::SidekiqOptions& options, const Dialect& dialect, SystemTime now);

/// The policy for a job that could not be performed: Sidekiq's own.
Ending decide_failure(const boost::json::object& job, std::string_view error_class,
                      const std::string& why, SystemTime now);

/// The policy for a job that cannot be read: as Sidekiq does with those, and all of its text stays.
Ending bury(const Origin& origin, const std::string& why);

/// Not performed, and not the job's fault.
Ending give_back(const Origin& origin);
/// The same, and it comes back after a while only.
Ending postpone(const Origin& origin, Millis wait, SystemTime now);

}  // namespace holdfast::sidekiq
