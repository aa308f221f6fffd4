#pragma once

#include <filesystem>

namespace holdfast::test {

/// A port of the loopback that nobody listens on right now. The one that is 10000 higher exists.
int free_port();

/// A socket that is listened on, at a port of the loopback that was free.
struct Listener {
  int socket;
  int port;
};
Listener listen_on_loopback(int backlog = 128);

/// Makes `ca.crt` and `ca.key` for localhost and 127.0.0.1 in a folder.
void make_certificate(const std::filesystem::path& folder);

}  // namespace holdfast::test
