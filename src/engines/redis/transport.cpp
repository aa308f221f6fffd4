#include "engines/redis/transport.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace holdfast::redis {

namespace {

/// A socket that blocks, but for no longer than its timeout.
class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(int fd) : fd_{fd} {}
  ~PlainTransport() override { ::close(fd_); }
  PlainTransport(const PlainTransport&) = delete;
  PlainTransport& operator=(const PlainTransport&) = delete;

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) throw Disconnected{fmt::format("the connection broke: {}", reason())};
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  std::size_t read(char* into, std::size_t room) override {
    for (;;) {
      auto got = ::recv(fd_, into, room, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw Disconnected{fmt::format("the connection broke: {}", reason())};
      if (got == 0) throw Disconnected{"the server closed the connection"};
      return static_cast<std::size_t>(got);
    }
  }

  int fd() const override { return fd_; }

 private:
  static std::string reason() {
    if (errno == EAGAIN || errno == EWOULDBLOCK) return "no answer in time";
    return std::strerror(errno);
  }
  int fd_;
};

/// Closes on the way out unless it is let go.
class Socket {
 public:
  explicit Socket(int domain) : fd_{::socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    if (fd_ < 0) throw StoreError{fmt::format("cannot open a socket: {}", std::strerror(errno))};
  }
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }
  int let_go() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

bool connect_within(int fd, const sockaddr* to, socklen_t length, Millis timeout) {
  auto flags = ::fcntl(fd, F_GETFL);
  ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  int done = ::connect(fd, to, length);
  if (done != 0 && errno == EINPROGRESS) {
    pollfd waiting{fd, POLLOUT, 0};
    int error = ETIMEDOUT;
    socklen_t size = sizeof error;
    if (::poll(&waiting, 1, static_cast<int>(timeout.count())) > 0)
      ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    errno = error;
    done = error == 0 ? 0 : -1;
  }
  if (done != 0) return false;
  ::fcntl(fd, F_SETFL, flags);
  timeval limit{};
  limit.tv_sec = timeout.count() / 1000;
  limit.tv_usec = timeout.count() % 1000 * 1000;
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  return true;
}

int connect_unix(const std::string& path, Millis timeout) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (path.size() >= sizeof to.sun_path)
    throw ConfigError{fmt::format("the path of the socket is too long: {}", path)};
  std::memcpy(to.sun_path, path.c_str(), path.size() + 1);
  Socket socket{AF_UNIX};
  if (!connect_within(socket.fd(), reinterpret_cast<sockaddr*>(&to), sizeof to, timeout))
    throw Disconnected{
        fmt::format("cannot reach the Redis server at {}: {}", path, std::strerror(errno))};
  return socket.let_go();
}

/// Connections that only listen find out within half a minute that the server's host is gone.
void set_options(int fd) {
  auto set = [&](int level, int option, int value) {
    ::setsockopt(fd, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

int connect_tcp(const Endpoint& endpoint, Millis timeout) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  auto port = std::to_string(endpoint.port);
  if (int wrong = ::getaddrinfo(endpoint.host.c_str(), port.c_str(), &hints, &found); wrong != 0)
    throw Disconnected{
        fmt::format("cannot find the host {}: {}", endpoint.host, ::gai_strerror(wrong))};
  std::unique_ptr<addrinfo, void (*)(addrinfo*)> all{found, ::freeaddrinfo};
  int error = 0;
  for (auto* one = found; one; one = one->ai_next) {
    Socket socket{one->ai_family};
    if (!connect_within(socket.fd(), one->ai_addr, one->ai_addrlen, timeout)) {
      error = errno;
      continue;
    }
    set_options(socket.fd());
    return socket.let_go();
  }
  throw Disconnected{fmt::format("cannot reach the Redis server at {}: {}", endpoint.text(),
                                 std::strerror(error))};
}

}  // namespace

std::unique_ptr<Transport> connect(const Address& address, const Endpoint& endpoint,
                                   Millis timeout) {
  int fd = endpoint.socket.empty() ? connect_tcp(endpoint, timeout)
                                   : connect_unix(endpoint.socket, timeout);
  if (address.tls) return secure(fd, address, endpoint);
  return std::make_unique<PlainTransport>(fd);
}

}  // namespace holdfast::redis
