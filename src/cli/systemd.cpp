#include "cli/systemd.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "recovery/file_lock.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast::cli {

namespace {

/// A manager that is too busy to listen must not make us hang.
constexpr timeval longest_send{.tv_sec = 1, .tv_usec = 0};

std::string taken(const char* name) {
  const char* value = std::getenv(name);
  std::string text = value ? value : "";
  ::unsetenv(name);
  return text;
}

long long number(const std::string& text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : 0;
}

}  // namespace

Systemd::Systemd() : socket_{taken("NOTIFY_SOCKET")} {
  const auto pid = taken("WATCHDOG_PID");
  const auto microseconds = taken("WATCHDOG_USEC");
  // Inherited from somebody who is watched, it is not about us.
  if (!pid.empty() && number(pid) != ::getpid()) return;
  if (!socket_.empty()) watchdog_ = std::chrono::milliseconds{number(microseconds) / 1'000};
}

void Systemd::ready(std::string_view status) const {
  send(fmt::format("READY=1\nSTATUS={}", plain(status)));
}

void Systemd::status(std::string_view text) const { send(fmt::format("STATUS={}", plain(text))); }
void Systemd::stopping() const { send("STOPPING=1\nSTATUS=finishing what is begun"); }
void Systemd::alive() const { send("WATCHDOG=1"); }
void Systemd::unwatched() const { send("WATCHDOG_USEC=0"); }

void Systemd::send(std::string_view message) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Of other kinds of addresses (a virtual machine's) Debian 12's systemd knows nothing.
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  if (socket_[0] != '/' && socket_[0] != '@') return;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_[0] == '@') address.sun_path[0] = '\0';  // a name that is in no file system
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const FileDescriptor fd{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!fd) return;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &longest_send, sizeof longest_send);
  // Nothing can be done about a manager that does not hear. It will do something about us.
  (void)::sendto(fd.get(), message.data(), message.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), size);
}

}  // namespace holdfast::cli
