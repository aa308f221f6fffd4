#include "tasks/clear_text.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <optional>

#include <fmt/format.h>

namespace holdfast {

namespace {

/// An address of version 4 is what it is within one of version 6.
std::optional<in6_addr> address_of(const sockaddr_storage& place) {
  in6_addr address{};
  if (place.ss_family == AF_INET6) {
    std::memcpy(&address, &reinterpret_cast<const sockaddr_in6&>(place).sin6_addr, sizeof address);
    return address;
  }
  if (place.ss_family != AF_INET) return {};
  address.s6_addr[10] = address.s6_addr[11] = 0xff;
  std::memcpy(&address.s6_addr[12], &reinterpret_cast<const sockaddr_in&>(place).sin_addr, 4);
  return address;
}

bool is_loopback(const in6_addr& address) {
  if (IN6_IS_ADDR_V4MAPPED(&address)) return address.s6_addr[12] == 127;
  return IN6_IS_ADDR_LOOPBACK(&address);
}

}  // namespace

bool leaves_machine(int socket) {
  sockaddr_storage theirs{}, ours{};
  socklen_t size = sizeof theirs;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&theirs), &size) != 0) return false;
  size = sizeof ours;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&ours), &size) != 0) return false;
  const auto peer = address_of(theirs), own = address_of(ours);
  if (!peer || !own || is_loopback(*peer)) return false;
  return std::memcmp(&*peer, &*own, sizeof *peer) != 0;
}

std::string clear_text_warning(std::string_view server, std::string_view remedy) {
  return fmt::format(
      "the connection to {} is not encrypted and leaves this machine: passwords and payloads can "
      "be "
      "read and changed on the way; {}",
      server, remedy);
}

}  // namespace holdfast
