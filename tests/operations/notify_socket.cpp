#include "operations/notify_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

namespace holdfast::test {

NotifySocket::NotifySocket(std::string path)
    : path_{std::move(path)}, socket_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)} {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof address.sun_path) throw std::runtime_error{"a path that is too long"};
  std::memcpy(address.sun_path, path_.c_str(), path_.size());
  if (::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error{"cannot listen at " + path_};
}

NotifySocket::~NotifySocket() { ::close(socket_); }

std::optional<std::string> NotifySocket::next(std::chrono::milliseconds limit) {
  pollfd ready{socket_, POLLIN, 0};
  if (::poll(&ready, 1, static_cast<int>(limit.count())) != 1) return {};
  char message[4096];
  const auto size = ::recv(socket_, message, sizeof message, 0);
  return std::string(message, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
}

std::vector<std::string> NotifySocket::until(const std::string& begin) {
  std::vector<std::string> messages;
  while (auto message = next()) {
    messages.push_back(*message);
    if (("\n" + *message).find("\n" + begin) != std::string::npos) return messages;
  }
  ADD_FAILURE() << "'" << begin << "' was not said";
  return messages;
}

}  // namespace holdfast::test
