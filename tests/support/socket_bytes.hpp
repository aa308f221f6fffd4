#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <string_view>

namespace holdfast::test {

/// What proxies do with the bytes of a protocol. False: the connection is gone.
inline bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// A number of `size` bytes, most significant byte first.
inline unsigned number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  unsigned value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

}  // namespace holdfast::test
