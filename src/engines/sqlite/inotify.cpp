#include "engines/sqlite/inotify.hpp"

#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <holdfast/error.hpp>

namespace holdfast::sqlite {

Inotify::Inotify() : file_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)} {
  if (!file_) give_up();
}

void Inotify::give_up() {
  why_not_ = fmt::format("inotify: {}", std::strerror(errno));
  if (errno == EMFILE) why_not_ += " (raise fs.inotify.max_user_instances)";
  if (errno == ENOSPC) why_not_ += " (raise fs.inotify.max_user_watches)";
  file_ = FileDescriptor{};
}

int Inotify::watch(const std::string& path, std::uint32_t mask) {
  if (!usable()) return -1;
  int watch = ::inotify_add_watch(file_.get(), path.c_str(), mask);
  if (watch < 0) give_up();
  return watch;
}

std::vector<Inotify::Change> Inotify::drain() {
  std::vector<Change> changes;
  alignas(inotify_event) std::array<char, 16 * 1024> buffer;
  while (usable()) {
    auto got = ::read(file_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event;
      std::memcpy(&event, buffer.data() + at, sizeof event);
      changes.push_back({event.wd, event.mask});
      at += sizeof event + event.len;
    }
  }
  return changes;
}

Signal::Signal() : file_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)} {
  if (!file_) throw StoreError{fmt::format("cannot make an eventfd: {}", std::strerror(errno))};
}

void Signal::raise() const {
  std::uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(file_.get(), &one, sizeof one);
}

void Signal::lower() const {
  std::uint64_t count = 0;
  [[maybe_unused]] auto got = ::read(file_.get(), &count, sizeof count);
}

}  // namespace holdfast::sqlite
