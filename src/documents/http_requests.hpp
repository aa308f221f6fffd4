#pragma once

#include <optional>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

namespace holdfast {

/// A request that a process is making now.
struct RequestInFlight {
  TaskId id;
  Millis age{0};
  std::string method{};
  std::string host{};
  std::string worker{};
  std::optional<Millis> heartbeat_age{};  ///< of its worker; nothing if that is not known
};
/// The longest first, `limit` of them. Not those that a process has only claimed, because it or
/// their host has no place for them.
std::vector<RequestInFlight> requests_in_flight(const Engine& engine, int limit, WallTime now);
/// The documented JSON of it.
std::string request_json(const RequestInFlight& request);

}  // namespace holdfast
