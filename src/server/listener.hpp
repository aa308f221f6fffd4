#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/service.hpp"

namespace holdfast::server {

struct ListenOptions {
  /// Addresses; those after the first may be missing on this machine.
  std::vector<std::string> hosts = {"127.0.0.1"};
  int port = 0;               ///< 0: any that is free
  std::string certificate{};  ///< files, PEM; empty: no TLS
  std::string key{};
  int threads = 8;  ///< that wait for each store; the network has one of its own
  /// Connections at most; 0: as many as the descriptors of this process allow, 4,096 at the most.
  std::size_t connections = 0;
  /// Of one address, without a credential. Loopback and proxies may have more.
  std::size_t per_address = 64;
  bool behind_proxy = false;  ///< every address is one that many callers share
  bool no_auth = false;       ///< nobody shows a credential
};

/// HTTP/1.1 on a socket. Everything that a caller can make long, large or many is bounded, and what
/// waits for a slow caller is never a thread.
class Listener {
 public:
  /// Listens, and answers nobody yet. Throws `ConfigError` if it cannot.
  explicit Listener(const ListenOptions& options);
  ~Listener();

  int port() const;
  /// Answers until `stop`.
  void run(Service& service);
  /// From any thread. Requests that are being answered are cut off: whatever was acknowledged is
  /// done, and the rest can be asked again.
  void stop();
  /// Goes the way of a request that asks no store, without a caller: the network's thread hands
  /// `look` to another, and when that is back calls `answer`. From any thread. Where too many wait
  /// already, `look` is left out; and if those get nothing done, so is `answer`.
  void probe(std::function<void()> look, std::function<void()> answer);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace holdfast::server
