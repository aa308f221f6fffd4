#include "http/watched_sockets.hpp"

#include <sys/epoll.h>

#include <utility>

namespace holdfast::http {

void WatchedSockets::watch(int socket, std::uint32_t events) {
  auto at = kept_.find(socket);
  std::uint32_t before = 0;
  if (at != kept_.end()) {
    at->second.wanted = true;
    before = std::exchange(at->second.events, events);
    if (before == events) return;
  }
  epoll_event event{.events = events, .data = {.fd = socket}};
  if (before == 0 && ::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event) == 0) return;
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, socket, &event);
}

void WatchedSockets::let_go(int socket) {
  auto at = kept_.find(socket);
  if (at == kept_.end()) {
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, nullptr);
  } else {
    at->second.wanted = false;
  }
}

bool WatchedSockets::is_wanted(int socket) {
  auto at = kept_.find(socket);
  if (at == kept_.end() || at->second.wanted) return true;
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, nullptr);
  at->second.events = 0;
  return false;
}

}  // namespace holdfast::http
