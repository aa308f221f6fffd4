#include "support/redis_gate.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "support/loopback.hpp"
#include "support/socket_bytes.hpp"

namespace holdfast::test {

namespace {

constexpr int a_moment = 20;  ///< milliseconds

int connect_to(int port) {
  int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return socket;
  ::close(socket);
  throw std::runtime_error{fmt::format("nothing answers at port {}", port)};
}

}  // namespace

RedisGate::RedisGate(int server_port) : server_port_{server_port} {
  auto listener = listen_on_loopback();
  socket_ = listener.socket;
  port_ = listener.port;
  acceptor_ = std::jthread{[this](const std::stop_token& stop) { accept(stop); }};
}

RedisGate::~RedisGate() {
  acceptor_.request_stop();
  acceptor_.join();
  links_.clear();
  ::close(socket_);
}

std::string RedisGate::address(const std::string& store) const {
  auto address = store;
  const auto from = fmt::format(":{}", server_port_);
  const auto at = address.find(from);
  if (at == std::string::npos) throw std::runtime_error{"not a store of this server: " + store};
  return address.replace(at, from.size(), fmt::format(":{}", port_));
}

void RedisGate::before_each_script(Ask ask) {
  const std::lock_guard lock{mutex_};
  ask_ = std::move(ask);
  scripts_ = 0;
  closed_ = false;
}

bool RedisGate::may_pass() {
  Ask ask;
  int number = 0;
  {
    const std::lock_guard lock{mutex_};
    if (closed_) return false;
    ask = ask_;
    number = ++scripts_;
  }
  if (!ask || ask(number)) return true;
  const std::lock_guard lock{mutex_};
  closed_ = true;
  return false;
}

bool RedisGate::is_closed() const {
  const std::lock_guard lock{mutex_};
  return closed_;
}

void RedisGate::accept(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd waiting{socket_, POLLIN, 0};
    if (::poll(&waiting, 1, a_moment) <= 0) continue;
    int client = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    links_.emplace_back([this, client](const std::stop_token& ended) { serve(client, ended); });
  }
}

void RedisGate::serve(int client, const std::stop_token& stop) {
  const int server = connect_to(server_port_);
  std::array<char, 65'536> some{};
  const auto pass_on = [&](int from, int to) {
    const auto size = ::recv(from, some.data(), some.size(), 0);
    if (size <= 0) return false;
    const std::string_view bytes{some.data(), static_cast<std::size_t>(size)};
    // A command comes in one piece up to here, because each waits for the answer to the last.
    const bool is_script = from == client && bytes.find("\r\nEVALSHA\r\n") != bytes.npos;
    return (!is_script || may_pass()) && send_all(to, bytes);
  };
  while (!stop.stop_requested() && !is_closed()) {
    pollfd both[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    if (::poll(both, 2, a_moment) < 0) break;
    if (both[1].revents != 0 && !pass_on(server, client)) break;
    if (both[0].revents != 0 && !pass_on(client, server)) break;
  }
  ::close(client);
  ::close(server);
}

}  // namespace holdfast::test
