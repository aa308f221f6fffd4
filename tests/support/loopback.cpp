#include "support/loopback.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

#include "support/process.hpp"

namespace holdfast::test {

int free_port() {
  int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof any;
  auto* address = reinterpret_cast<sockaddr*>(&any);
  bool bound = ::bind(fd, address, size) == 0 && ::getsockname(fd, address, &size) == 0;
  ::close(fd);
  // The nodes of a cluster also listen on the port that is 10000 higher.
  if (!bound) throw std::runtime_error{"there is no free port"};
  return ntohs(any.sin_port) > 55'000 ? ntohs(any.sin_port) - 20'000 : ntohs(any.sin_port);
}

Listener listen_on_loopback(int backlog) {
  Listener listener{.socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .port = 0};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener.socket, generic, size) != 0 || ::listen(listener.socket, backlog) != 0 ||
      ::getsockname(listener.socket, generic, &size) != 0)
    throw std::runtime_error{"nobody can listen on the loopback"};
  listener.port = ntohs(address.sin_port);
  return listener;
}

void make_certificate(const std::filesystem::path& folder) {
  auto made =
      run({"/usr/bin/openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
           "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
           "-keyout", folder / "ca.key", "-out", folder / "ca.crt"});
  if (!made.ending.ok()) throw std::runtime_error{"no certificate: " + made.err};
}

}  // namespace holdfast::test
