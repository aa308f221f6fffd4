#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "engines/redis/connection.hpp"
#include "engines/redis/script.hpp"

namespace holdfast::redis {

/// From node to node of a cluster, for one command.
inline constexpr int most_redirections = 5;

/// Where a node of a cluster says that a key is: `MOVED 3999 127.0.0.1:6381`. An empty host means
/// the one that answered. Nothing: the answer says something else.
std::optional<Endpoint> moved_to(std::string_view answer, const Endpoint& from);

/// The server, or the node of a cluster, that has the store. Connects when it must, again and
/// again, and follows the store to another node. Safe to use from many threads: each call has a
/// connection to itself.
///
/// A call that fails because the connection broke is not repeated here: it may have been carried
/// out. Callers name ids and tokens, so they can ask again.
class Server {
 public:
  explicit Server(Address address);

  /// Throws `StoreFull` where the server's memory is used up, `StoreError` for everything else that
  /// went wrong.
  Reply call(const Command& command);
  /// Many commands, one round trip. Answers in order; the first error is thrown.
  std::vector<Reply> call_all(std::span<const Command> commands);
  /// Runs a script; it is sent as a whole only where the server does not know it.
  Reply run(const Script& script, const Encoded& key_and_arguments);
  Reply run(const Script& script, const Command& key_and_arguments);

  /// A connection for somebody who keeps it, to the same server.
  std::unique_ptr<Connection> connect();
  /// False: the store has moved to another server since this connection was made.
  bool is_current(const Connection& connection) const;
  const Address& address() const { return address_; }

 private:
  using ConnectionPtr = std::unique_ptr<Connection>;
  ConnectionPtr borrow();
  void give_back(ConnectionPtr connection);
  /// True: the answer says that another server has the store now, and the next call asks that.
  bool redirected(const Value& answer);
  void look_elsewhere();
  /// `what` was asked for, and the answer is an error.
  [[noreturn]] void fail(const Value& answer, std::string_view what);
  template <class F>
  auto with_connection(F&& talk);

  Address address_;
  mutable std::mutex mutex_;
  std::vector<ConnectionPtr> idle_;
  Endpoint current_;
  std::size_t next_endpoint_ = 0;
};

}  // namespace holdfast::redis
