#include "engines/sqlite/file_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <holdfast/error.hpp>

namespace holdfast::sqlite {

namespace {

constexpr long head_of_line = 0;
constexpr long the_lock = 1;

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

FileDescriptor open_file(const std::string& path, int flags, int mode) {
  int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  if (fd < 0) throw StoreError{fmt::format("cannot open {}: {}", path, std::strerror(errno))};
  return FileDescriptor{fd};
}

bool try_lock(int fd, long byte) { return set_lock(fd, F_OFD_SETLK, F_WRLCK, byte); }

void lock(int fd, long byte) { set_lock(fd, F_OFD_SETLKW, F_WRLCK, byte); }

void unlock(int fd, long byte) { set_lock(fd, F_OFD_SETLK, F_UNLCK, byte); }

bool is_locked(int fd, long byte) {
  auto range = bytes(F_WRLCK, byte, 1);
  while (::fcntl(fd, F_OFD_GETLK, &range) != 0) {
    if (errno != EINTR) throw_lock_error("look at");
  }
  return range.l_type != F_UNLCK;
}

FairLock::FairLock(const std::string& path)
    : file_{open_file(path, O_RDWR | O_CREAT)}, holder_{fmt::format("{:<10}\n", ::getpid())} {}

void FairLock::acquire() {
  // Mostly nobody is in line and nobody has the lock: then both are one call.
  if (!set_lock(file_.get(), F_OFD_SETLK, F_WRLCK, head_of_line, 2)) {
    lock(file_.get(), head_of_line);
    lock(file_.get(), the_lock);
  }
  unlock(file_.get(), head_of_line);
  // The pid is for people: it names the process that everybody waits for. Not knowing it harms
  // nobody, so a failing write is not an error.
  [[maybe_unused]] auto written = ::pwrite(file_.get(), holder_.data(), holder_.size(), 0);
}

void FairLock::release() { unlock(file_.get(), the_lock); }

}  // namespace holdfast::sqlite
