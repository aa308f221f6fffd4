#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "engines/redis/connection.hpp"

namespace holdfast::redis {

/// A server, or the nodes of a cluster, for those whose keys are spread over all of it: commands go
/// to the node that has their key. One call at a time; safe to use from many threads.
///
/// When nobody can be reached it fails at once for a moment, so that callers who can do without do
/// not wait again and again.
class Nodes {
 public:
  Nodes(Address address, Millis patience) : address_{std::move(address)}, patience_{patience} {}

  /// Commands about keys with this hash tag, in one round trip. Throws `StoreError` for the first
  /// answer that is an error.
  std::vector<Reply> call(const std::string& tag, std::span<const Command> commands);
  Reply call(const std::string& tag, const Command& command);

  const Address& address() const { return address_; }

 private:
  Connection& connection_for(const std::string& tag);
  Connection& any_connection();
  Connection* connect(const Endpoint& endpoint);
  std::vector<Reply> talk(Connection& connection, std::span<const Command> commands);

  Address address_;
  Millis patience_;

  std::mutex mutex_;                                                // guards everything below
  std::map<std::string, std::unique_ptr<Connection>> connections_;  // by the text of the endpoint
  std::map<std::string, Endpoint> homes_;  // of hash tags that are not where we asked first
  std::chrono::steady_clock::time_point away_until_{};
  std::string why_away_;
};

}  // namespace holdfast::redis
