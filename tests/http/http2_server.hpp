#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct ssl_ctx_st;

namespace holdfast::test {

/// What an HTTP/2 server does with a request that it has read.
enum class Http2Then {
  answer,
  close,      ///< the connection
  reset,      ///< the same with a TCP RST
  refuse,     ///< RST_STREAM with REFUSED_STREAM, as if it had not been read
  say_unread  ///< GOAWAY that denies having read it, and the end of the connection
};

/// An HTTP/2 server over TLS that says goodbye (GOAWAY) on every connection after so many requests:
/// those are answered, and what came after them on the same connection is not looked at.
class Http2Server {
 public:
  /// By method and path; from several threads.
  using Handler = std::function<Http2Then(const std::string& method, const std::string& path)>;
  Http2Server(const std::string& certificate, const std::string& key, int requests_each,
              Handler handler = {});
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
  Handler handler_;
  int listener_ = -1, port_ = 0;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_;  // guards the one below
  std::vector<std::thread> serving_;
  std::thread accepting_;
};

}  // namespace holdfast::test
