#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {

/// A proxy that makes tunnels (CONNECT), on loopback and to 127.0.0.1 only, for whoever says the
/// words that it wants to hear. The others get 407.
class ConnectProxy {
 public:
  /// `wants` is the value of `Proxy-Authorization`.
  explicit ConnectProxy(std::string wants);
  ~ConnectProxy();
  ConnectProxy(const ConnectProxy&) = delete;
  ConnectProxy& operator=(const ConnectProxy&) = delete;

  int port() const { return port_; }
  int tunnels() const { return tunnels_; }
  /// What it was asked: the first line and the headers of each CONNECT.
  std::vector<std::string> asked() const;

 private:
  void accept_all();
  void serve(int client);

  std::string wants_;
  int port_ = 0, listener_ = -1;
  std::atomic<int> tunnels_ = 0;
  mutable std::mutex mutex_;  // guards the ones below
  std::vector<std::string> asked_;
  std::vector<std::thread> serving_;
  std::thread accepting_;
};

}  // namespace holdfast::test
