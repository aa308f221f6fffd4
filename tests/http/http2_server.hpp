#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct ssl_ctx_st;

namespace holdfast::test {

/// An HTTP/2 server over TLS that says goodbye (GOAWAY) on every connection after so many requests:
/// those are answered, and what came after them on the same connection is not looked at.
class Http2Server {
 public:
  Http2Server(const std::string& certificate, const std::string& key, int requests_each);
  ~Http2Server();
  Http2Server(const Http2Server&) = delete;
  Http2Server& operator=(const Http2Server&) = delete;

  std::string url() const;
  int connections() const { return connections_; }

 private:
  void accept_all();
  void serve(int connection);

  ssl_ctx_st* context_;
  int requests_each_;
  int listener_ = -1, port_ = 0;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_;  // guards the one below
  std::vector<std::thread> serving_;
  std::thread accepting_;
};

}  // namespace holdfast::test
