#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

#include "http/left_alone.hpp"

namespace holdfast {

/// What the results of requests that ended say, and who makes requests now.
struct HttpStats {
  /// How a host has been answering.
  struct Endpoint {
    std::int64_t requests = 0;
    std::int64_t unanswered = 0;
    std::int64_t server_errors = 0;   ///< answers of 500 and more
    std::vector<double> durations{};  ///< seconds, in order
  };
  struct Process {
    std::string worker{};
    std::string host{};
    int pid = 0;
    int capacity = 0;
    std::int64_t in_flight = 0;
    std::int64_t capacity_exceeded = 0;  ///< how often it became full since it started
    std::string state = "running";       ///< or draining, stopping: see `http::ProcessorState`
  };

  std::map<std::string, Endpoint> endpoints;
  std::map<std::string, std::int64_t> states, statuses, errors;
  std::vector<double> durations;  ///< seconds, in order
  std::vector<Process> processes;
  std::vector<http::LeftAlone> left_alone;
  bool complete = true;  ///< false: time was up, and there is more
};

/// Which requests are looked at.
struct HttpStatsOf {
  int newest = 10'000;              ///< of those that ended
  std::optional<WallTime> since{};  ///< ended since; what waits or is in flight counts anyway
  std::optional<Millis> longest{};  ///< looks at them for so long
};
HttpStats http_stats(const Engine& engine, const HttpStatsOf& which);

/// The least that at least `part` of them do not exceed; 0 if there are none. They are in order.
double percentile(const std::vector<double>& sorted, double part);

/// 0 if there are none.
double mean(const std::vector<double>& durations);

/// The documented JSON of it. Of each of its lists `most_of_each` entries: of hosts those with the
/// most requests, and what is left out as a number.
std::string http_stats_json(const HttpStats& stats,
                            std::size_t most_of_each = std::numeric_limits<std::size_t>::max());

}  // namespace holdfast
