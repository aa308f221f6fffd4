#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/redis/server.hpp"
#include "support/process.hpp"
#include "support/server_clock.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {

/// A redis-server of this test's own, on a port of the loopback and on a Unix socket, in a folder
/// of its own. Ends with this object, and with the test program if that is killed.
class RedisServer {
 public:
  struct Options {
    bool append_only = false;  ///< everything is on disk before it is acknowledged
    bool cluster = false;
    bool tls = false;        ///< the port speaks TLS with a certificate made for the test
    bool own_clock = false;  ///< that `set_clock` sets
    std::vector<std::string> more{};
  };
  explicit RedisServer(Options options);
  RedisServer() : RedisServer(Options{}) {}
  ~RedisServer();

  int port() const { return port_; }
  std::string socket() const { return folder() / "redis.sock"; }
  std::filesystem::path folder() const { return folder_.folder(); }
  std::string certificate() const { return folder() / "ca.crt"; }
  /// As the user with the rights that docs/redis.md and docs/sidekiq.md ask for, with any prefix.
  std::string address() const { return address_of("holdfast"); }
  std::string sidekiq_address() const { return address_of("sidekiq"); }
  /// As the default user, who may do everything; by its port and by its socket.
  std::string admin_address() const { return address_of({}); }
  std::string socket_address() const { return "redis+unix://" + socket(); }

  /// SIGKILL, and start again on the same port and folder.
  void kill();
  void start();
  void restart() { kill(), start(); }
  Process& process() { return *process_; }
  /// Steps its wall clock while it runs.
  void set_clock(std::chrono::seconds ahead) { clock_->set(ahead); }

  /// One command, as whoever administers the server.
  redis::Reply call(const redis::Command& command);

 private:
  bool try_start();
  std::string address_of(const std::string& user) const;

  Options options_;
  TempStore folder_;
  std::optional<ServerClock> clock_;
  int port_ = 0;
  std::unique_ptr<Process> process_;
};

/// Three nodes that share the slots.
class RedisCluster {
 public:
  RedisCluster();
  std::string address() const { return nodes_.front()->address(); }
  /// The same with all nodes in it.
  std::string whole_address() const;
  RedisServer& node(std::size_t which) { return *nodes_[which]; }
  void flush();

  /// The node that has the store with this prefix when nothing was moved.
  std::size_t home_of(const std::string& prefix);
  /// Moves the slot of a store to another node as an operator would. `half_way` is called when some
  /// keys are here and some are there.
  void move_store(const std::string& prefix, std::size_t from, std::size_t to,
                  const std::function<void()>& half_way = {});
  /// One more node, which does what another one does.
  RedisServer& add_replica(std::size_t of);

 private:
  std::string slot_of(const std::string& prefix);

  std::vector<std::unique_ptr<RedisServer>> nodes_;
};

/// The words of `ACL SETUSER holdfast` on a page of the documentation, from its password on.
std::vector<std::string> documented_rights(const std::string& page);

/// The server that all tests of this program share; and one that loses nothing when it is killed.
RedisServer& shared_redis();
RedisServer& shared_lasting_redis();
RedisCluster& shared_redis_cluster();

}  // namespace holdfast::test
