#pragma once

#include <libpq-fe.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/postgres_server.hpp"

namespace holdfast::test {

/// Knows which connections wait for another one's locks.
class PostgresLocks {
 public:
  explicit PostgresLocks(const PostgresServer& server);
  bool is_waiting(int backend) const;

 private:
  std::unique_ptr<PGconn, void (*)(PGconn*)> db_;
};

/// Decides which of two steps, each in a thread of its own, sends its next statement to the server.
class Turns {
 public:
  using Actor = std::size_t;  ///< 0 or 1

  /// Called by the steps' connections: waits for permission, and says that the answer has come.
  void enter(Actor actor, int backend);
  void leave(Actor actor);
  void finish(Actor actor);

  enum class Next { same, other };
  /// Lets statements pass until both steps have finished. Where either could go next, `choices`
  /// says whether it is the one that went last; where they are at an end it is, and that is added.
  /// Throws if nothing happens for long.
  void direct(const PostgresLocks& locks, std::vector<Next>& choices);

 private:
  enum class At { client, gate, server, end };
  struct Step {
    At at = At::client;
    bool may_pass = false;
    int backend = 0;
  };
  bool is_settled(const PostgresLocks& locks, std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  Step steps_[2];
  bool given_up_ = false;
};

/// Stands between an engine and a PostgreSQL server, and lets the statements of its transactions
/// pass one at a time while there are turns to take. What only begins a transaction or sets
/// something passes at once.
class PostgresGate {
 public:
  PostgresGate(const PostgresServer& server, Turns::Actor actor);
  ~PostgresGate();
  PostgresGate(const PostgresGate&) = delete;
  PostgresGate& operator=(const PostgresGate&) = delete;

  /// The same store, by way of the gate.
  std::string address(const std::string& store) const;
  /// Null: everything passes.
  void set_turns(Turns* turns);

 private:
  class Link;
  void accept(const std::stop_token& stop);
  Turns* turns() const;

  Turns::Actor actor_;
  std::string server_folder_, folder_;
  int port_, socket_ = -1;
  mutable std::mutex mutex_;
  Turns* turns_ = nullptr;
  std::deque<std::jthread> links_;
  std::jthread acceptor_;
};

}  // namespace holdfast::test
