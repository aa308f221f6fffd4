#pragma once

#include <cstdint>
#include <unordered_map>

namespace holdfast::http {

/// What epoll watches for libcurl. That lets go of a connection's socket after every transfer and
/// asks for it again with the next one, so sockets of connections stay with epoll in between: two
/// system calls less for every request.
class WatchedSockets {
 public:
  explicit WatchedSockets(int epoll) : epoll_{epoll} {}

  /// One of a connection, which says when it is closed. Of others libcurl does not say so, and the
  /// next socket may have the same number: they do not stay.
  void opened(int socket) { kept_[socket] = {}; }
  void closed(int socket) { kept_.erase(socket); }

  void watch(int socket, std::uint32_t events);
  void let_go(int socket);
  /// There is an event. False: nobody waits for it (a server has closed a connection that is not in
  /// use), and it does not come again.
  bool is_wanted(int socket);

 private:
  struct Kept {
    std::uint32_t events = 0;  ///< that epoll knows; none: not watched
    bool wanted = false;
  };

  int epoll_;
  std::unordered_map<int, Kept> kept_;
};

}  // namespace holdfast::http
