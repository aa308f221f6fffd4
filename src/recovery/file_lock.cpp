#include "recovery/file_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <holdfast/error.hpp>

namespace holdfast {

namespace {

struct flock bytes(short type, long first, long count) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = first;
  range.l_len = count;
  return range;
}

[[noreturn]] void throw_lock_error(const char* doing) {
  throw StoreError{
      fmt::format("cannot {} a file lock: {}; is the store on a file system that has "
                  "locks (a local disk)?",
                  doing, std::strerror(errno))};
}

/// False: somebody else has it, and `command` does not wait.
bool set_lock(int fd, int command, short type, long first, long count = 1) {
  auto range = bytes(type, first, count);
  while (::fcntl(fd, command, &range) != 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EACCES) return false;
    throw_lock_error(type == F_UNLCK ? "give back" : "take");
  }
  return true;
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  FileDescriptor old{std::exchange(fd_, other.release())};
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

int FileDescriptor::release() { return std::exchange(fd_, -1); }

bool lacks_resources(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

FileDescriptor open_file(const std::string& path, int flags, int mode) {
  int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  if (fd >= 0) return FileDescriptor{fd};
  auto message = fmt::format("cannot open {}: {}", path, std::strerror(errno));
  if (errno == EACCES || errno == EROFS || errno == EPERM) throw StoreReadOnly{message};
  throw StoreError{message};
}

bool try_lock(int fd, long byte, long count) {
  return set_lock(fd, F_OFD_SETLK, F_WRLCK, byte, count);
}

void lock(int fd, long byte) { set_lock(fd, F_OFD_SETLKW, F_WRLCK, byte); }

void lock_shared(int fd, long byte) { set_lock(fd, F_OFD_SETLKW, F_RDLCK, byte); }

void unlock(int fd, long byte) { set_lock(fd, F_OFD_SETLK, F_UNLCK, byte); }

bool is_locked(int fd, long byte) {
  auto range = bytes(F_WRLCK, byte, 1);
  while (::fcntl(fd, F_OFD_GETLK, &range) != 0) {
    if (errno != EINTR) throw_lock_error("look at");
  }
  return range.l_type != F_UNLCK;
}

}  // namespace holdfast
