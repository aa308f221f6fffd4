#include "support/http_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace holdfast::test {

namespace {

using Clock = std::chrono::steady_clock;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

ServedRequest parse_head(const std::string& head) {
  ServedRequest request;
  std::istringstream lines{head};
  std::string line;
  std::getline(lines, line);
  std::istringstream{line} >> request.method >> request.target;
  while (std::getline(lines, line)) {
    auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    auto value = line.substr(colon + 1);
    value.erase(0, value.find_first_not_of(' '));
    value.erase(value.find_last_not_of("\r\n ") + 1);
    request.headers[lower(line.substr(0, colon))] = value;
  }
  return request;
}

int listen_at(HttpServer::At at) {
  const bool six = at == HttpServer::At::ipv6;
  int listener = ::socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 loopback6{};
  loopback6.sin6_family = AF_INET6;
  loopback6.sin6_addr = in6addr_loopback;
  auto* address =
      six ? reinterpret_cast<sockaddr*>(&loopback6) : reinterpret_cast<sockaddr*>(&four);
  const socklen_t size = six ? sizeof loopback6 : sizeof four;
  if (::bind(listener, address, size) != 0 || ::listen(listener, 4096) != 0)
    throw std::runtime_error{
        fmt::format("the test's server cannot listen at {}, the loopback of IPv{}",
                    six ? "::1" : "127.0.0.1", six ? 6 : 4)};
  return listener;
}

int port_of(int listener) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  // At the same place in both families.
  return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

}  // namespace

struct HttpServer::Client {
  int fd = -1;
  std::string in;
  Reply reply{};
  bool replying = false;
  std::size_t sent = 0;
  ~Client() {
    if (fd >= 0) ::close(fd);
  }
};

Reply answer(int status, const std::string& body, const std::string& header_lines) {
  return {.bytes = fmt::format("HTTP/1.1 {} Text\r\nContent-Length: {}\r\n{}\r\n{}", status,
                               body.size(), header_lines, body)};
}

HttpServer::HttpServer(Handler handler, At at) : handler_{std::move(handler)}, at_{at} {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  listener_ = listen_at(at_);
  port_ = port_of(listener_);
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  for (int fd : {listener_, wake_}) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }
  thread_ = std::thread{[this] { run(); }};
}

HttpServer::~HttpServer() {
  ends_ = true;
  std::uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(wake_, &one, sizeof one);
  thread_.join();
  for (int fd : {listener_, epoll_, wake_}) ::close(fd);
}

std::string HttpServer::url(const std::string& path) const {
  return fmt::format("http://{}:{}{}", at_ == At::ipv6 ? "[::1]" : "127.0.0.1", port_, path);
}

void HttpServer::run() {
  std::array<epoll_event, 256> events;
  while (!ends_) {
    int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), run_due());
    for (int i = 0; i < count; ++i) {
      int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == wake_) {
        std::uint64_t wakes = 0;
        [[maybe_unused]] auto got = ::read(wake_, &wakes, sizeof wakes);
      } else if (fd == listener_) {
        accept_all();
      } else if (auto at = clients_.find(fd); at != clients_.end()) {
        auto client = at->second;
        if (events[static_cast<std::size_t>(i)].events & EPOLLOUT)
          write_to(client);
        else
          read_from(client);
      }
    }
  }
}

void HttpServer::release() {
  released_ = true;
  std::uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(wake_, &one, sizeof one);
}

int HttpServer::run_due() {
  if (released_)
    for (const auto& held : std::exchange(held_, {}))
      if (auto client = held.lock(); client && client->replying) write_to(client);
  while (!due_.empty()) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(due_.top().at - Clock::now());
    if (left.count() > 0) return static_cast<int>(left.count());
    auto client = due_.top().client.lock();
    due_.pop();
    if (client && client->replying) write_to(client);
  }
  return -1;
}

void HttpServer::accept_all() {
  while (true) {
    int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    ++connections_;
    ++open_;
    int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    clients_[fd] = std::make_shared<Client>();
    clients_[fd]->fd = fd;
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }
}

void HttpServer::read_from(const std::shared_ptr<Client>& client) {
  char buffer[16'384];
  while (true) {
    auto got = ::recv(client->fd, buffer, sizeof buffer, 0);
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) return drop(client, false);
    client->in.append(buffer, static_cast<std::size_t>(got));
  }
  take_requests(client);
}

void HttpServer::take_requests(const std::shared_ptr<Client>& client) {
  if (client->replying) return;
  auto end = client->in.find("\r\n\r\n");
  if (end == std::string::npos) return;
  auto request = parse_head(client->in.substr(0, end));
  auto length = request.headers.contains("content-length")
                    ? std::stoul(request.headers["content-length"])
                    : 0;
  if (client->in.size() < end + 4 + length) return;
  request.body = client->in.substr(end + 4, length);
  client->in.erase(0, end + 4 + length);
  ++served_;
  client->replying = true;
  client->sent = 0;
  // Before the handler, which may tell somebody who looks at the number.
  most_at_once_ = std::max<int>(most_at_once_, ++waiting_);
  client->reply = handler_(request);
  if (client->reply.never) return;
  if (client->reply.waits && !released_) return held_.push_back(client);
  if (client->reply.after.count() > 0)
    due_.push({Clock::now() + client->reply.after, client});
  else
    write_to(client);
}

void HttpServer::write_to(const std::shared_ptr<Client>& client) {
  auto& reply = client->reply;
  epoll_event event{.events = EPOLLIN, .data = {.fd = client->fd}};
  while (client->sent < reply.bytes.size()) {
    auto size = std::min(reply.piece, reply.bytes.size() - client->sent);
    auto put = ::send(client->fd, reply.bytes.data() + client->sent, size, MSG_NOSIGNAL);
    if (put < 0 && errno == EAGAIN) {
      event.events |= EPOLLOUT;
      ::epoll_ctl(epoll_, EPOLL_CTL_MOD, client->fd, &event);
      return;
    }
    if (put < 0) return drop(client, false);
    client->sent += static_cast<std::size_t>(put);
    if (reply.pause.count() > 0 && client->sent < reply.bytes.size()) {
      due_.push({Clock::now() + reply.pause, client});
      return;
    }
  }
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, client->fd, &event);
  if (reply.then != Reply::Then::stay) return drop(client, reply.then == Reply::Then::reset);
  client->replying = false;
  --waiting_;
  take_requests(client);
}

void HttpServer::drop(const std::shared_ptr<Client>& client, bool reset) {
  linger hard{.l_onoff = 1, .l_linger = 0};
  if (reset) ::setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  waiting_ -= std::exchange(client->replying, false);
  clients_.erase(client->fd);
  --open_;
  ::close(std::exchange(client->fd, -1));
}

}  // namespace holdfast::test
