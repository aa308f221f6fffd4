#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <holdfast/ids.hpp>

namespace holdfast::redis {

struct Store;
class Connection;
class Server;

/// A connection that is open as long as its worker lives: the kernel closes it with the process,
/// and the server knows. The worker's record names it ("life": the number of the connection and the
/// run of the server that gave it), and is written anew whenever the worker had to connect again.
class LifeLine {
 public:
  /// Connects; `life` can be written into the record then.
  LifeLine(Store& store, WorkerId worker);
  ~LifeLine();

  const std::string& first_life() const { return first_life_; }
  /// From now on the record exists, and is kept right.
  void keep();

 private:
  void watch(std::stop_token stop);
  /// False: the store does not know this worker as a living one any more.
  bool connect_again();

  Store& store_;
  WorkerId worker_;
  std::unique_ptr<Connection> connection_;
  std::string first_life_;
  std::jthread watcher_;
};

/// Names a connection and the run of the server that it belongs to.
std::string life_of(Connection& connection);

/// What the server that has the store says about connections.
struct Living {
  std::string server;  ///< its run
  /// Of those that were asked for; empty where nothing can be said.
  bool knows(const std::string& life) const;
  bool has(const std::string& life) const;
  std::string connections;  ///< numbers with a comma after each
};
Living ask_for(Server& server, const std::vector<std::string>& lives);

}  // namespace holdfast::redis
