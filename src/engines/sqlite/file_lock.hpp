#pragma once

#include <string>

namespace holdfast::sqlite {

/// A file descriptor that closes itself.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_{fd} {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_{other.release()} {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();
  int get() const { return fd_; }
  int release();
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Opens (creating if asked) with close-on-exec; throws `StoreError` naming the path.
FileDescriptor open_file(const std::string& path, int flags, int mode = 0600);

/// Open-file-description locks on one byte: the kernel drops them when the last descriptor of that
/// open file is closed, however the process ends. They belong to the open file, not to the process,
/// so another descriptor of the same process sees them too.
bool try_lock(int fd, long byte = 0);
void lock(int fd, long byte = 0);  ///< waits
void unlock(int fd, long byte = 0);
/// Whether somebody holds it (through another open file). Changes nothing.
bool is_locked(int fd, long byte = 0);

/// Mutual exclusion between processes in which a busy one cannot starve the others: who wants to
/// write first takes the place at the head of the line, which the last writer cannot take again
/// before the next one got through.
class FairLock {
 public:
  explicit FairLock(const std::string& path);
  void acquire();
  void release();

 private:
  FileDescriptor file_;
  const std::string holder_;
};

}  // namespace holdfast::sqlite
