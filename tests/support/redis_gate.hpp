#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace holdfast::test {

/// Stands between an engine and a Redis server, and asks before each script whether it may pass.
class RedisGate {
 public:
  explicit RedisGate(int server_port);
  ~RedisGate();
  RedisGate(const RedisGate&) = delete;
  RedisGate& operator=(const RedisGate&) = delete;

  /// The same store, by way of the gate.
  std::string address(const std::string& store) const;

  /// Is given the number of the script, from 1 on. False: every connection ends, this script is
  /// never run, and until the next call of this nothing reaches the server.
  using Ask = std::function<bool(int)>;
  /// Nothing: everything passes.
  void before_each_script(Ask ask);

 private:
  void accept(const std::stop_token& stop);
  void serve(int client, const std::stop_token& stop);
  bool may_pass();
  bool is_closed() const;

  int server_port_, socket_ = -1, port_ = 0;
  mutable std::mutex mutex_;
  Ask ask_{};
  int scripts_ = 0;
  bool closed_ = false;
  std::deque<std::jthread> links_;
  std::jthread acceptor_;
};

}  // namespace holdfast::test
