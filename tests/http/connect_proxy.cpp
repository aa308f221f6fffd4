#include "http/connect_proxy.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "support/loopback.hpp"

namespace holdfast::test {

namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Up to the empty line; what comes behind it has not been sent yet.
std::string read_head(int client) {
  std::string head;
  char byte = 0;
  while (!head.ends_with("\r\n\r\n") && ::recv(client, &byte, 1, 0) == 1) head += byte;
  return head;
}

void say(int client, std::string_view text) {
  [[maybe_unused]] auto sent = ::send(client, text.data(), text.size(), MSG_NOSIGNAL);
}

bool pass_on(int from, int to) {
  std::array<char, 16'384> bytes;
  auto got = ::recv(from, bytes.data(), bytes.size(), 0);
  return got > 0 && ::send(to, bytes.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) == got;
}

/// Until one of them has enough.
void join(int client, int server) {
  std::array<pollfd, 2> both{{{client, POLLIN, 0}, {server, POLLIN, 0}}};
  while (::poll(both.data(), both.size(), -1) > 0) {
    if (both[0].revents != 0 && !pass_on(client, server)) return;
    if (both[1].revents != 0 && !pass_on(server, client)) return;
  }
}

/// Of `CONNECT 127.0.0.1:PORT HTTP/1.1`; 0: it is something else.
int wanted_port(const std::string& line) {
  constexpr std::string_view to = "CONNECT 127.0.0.1:";
  return line.starts_with(to) ? std::stoi(line.substr(to.size())) : 0;
}

}  // namespace

ConnectProxy::ConnectProxy(std::string wants) : wants_{std::move(wants)} {
  auto listening = listen_on_loopback();
  listener_ = listening.socket;
  port_ = listening.port;
  accepting_ = std::thread{[this] { accept_all(); }};
}

ConnectProxy::~ConnectProxy() {
  ::shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  ::close(listener_);
  for (auto& one : serving_) one.join();
}

std::vector<std::string> ConnectProxy::asked() const {
  std::lock_guard lock{mutex_};
  return asked_;
}

void ConnectProxy::accept_all() {
  while (true) {
    int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    std::lock_guard lock{mutex_};
    serving_.emplace_back([this, client] { serve(client); });
  }
}

void ConnectProxy::serve(int client) {
  const auto head = read_head(client);
  const auto line = head.substr(0, head.find("\r\n"));
  {
    std::lock_guard lock{mutex_};
    asked_.push_back(head);
  }
  int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = loopback(wanted_port(line));
  const bool known = head.find("Proxy-Authorization: " + wants_ + "\r\n") != std::string::npos;
  if (!known) {
    say(client, "HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n");
  } else if (::connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    say(client, "HTTP/1.1 502 Nobody is there\r\nContent-Length: 0\r\n\r\n");
  } else {
    ++tunnels_;
    say(client, "HTTP/1.1 200 Go on\r\n\r\n");
    join(client, server);
  }
  ::close(server);
  ::close(client);
}

}  // namespace holdfast::test
