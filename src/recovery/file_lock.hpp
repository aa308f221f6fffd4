#pragma once

#include <string>

namespace holdfast {

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

/// Of the errors of `open`: this process cannot open any file now, which says nothing about the one
/// that it asked for.
bool lacks_resources(int error);

/// Opens (creating if asked) with close-on-exec; throws `StoreError` naming the path.
FileDescriptor open_file(const std::string& path, int flags, int mode = 0600);

/// Open-file-description locks on one byte: the kernel drops them when the last descriptor of that
/// open file is closed, however the process ends. They belong to the open file, not to the process,
/// so another descriptor of the same process sees them too.
bool try_lock(int fd, long byte = 0, long count = 1);  ///< of several bytes: all or none
void lock(int fd, long byte = 0);                      ///< waits
/// Many may hold it at the same time, if nobody holds it alone. Who holds it alone lets the others
/// in by this, without letting it go in between; who shares it gets it alone by `try_lock`.
void lock_shared(int fd, long byte = 0);
void unlock(int fd, long byte = 0);
/// Whether somebody holds it (through another open file). Changes nothing.
bool is_locked(int fd, long byte = 0);

}  // namespace holdfast
