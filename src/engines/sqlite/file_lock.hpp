#pragma once

#include <chrono>
#include <memory>
#include <optional>
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
/// Many may hold it at the same time, if nobody holds it alone. Who holds it alone lets the others
/// in by this, without letting it go in between; who shares it gets it alone by `try_lock`.
void lock_shared(int fd, long byte = 0);
void unlock(int fd, long byte = 0);
/// Whether somebody holds it (through another open file). Changes nothing.
bool is_locked(int fd, long byte = 0);

/// How long to wait for a lock; nothing: for ever.
using Patience = std::optional<std::chrono::milliseconds>;
/// Waits; false: it was not to be had within that time.
bool lock_within(const std::shared_ptr<FileDescriptor>& file, long byte, Patience patience);

/// Mutual exclusion between processes in which a busy one cannot starve the others: who wants to
/// write first takes the place at the head of the line, which the last writer cannot take again
/// before the next one got through.
class FairLock {
 public:
  explicit FairLock(const std::string& path, Patience patience = {});
  /// Throws `StoreError`, naming who has it, when the patience is over.
  void acquire();
  void release();

  /// The process that holds the lock at `path`, if anybody does. Waits for nobody.
  static std::optional<int> holder(const std::string& path);

 private:
  void wait_in_line();

  std::string path_;
  std::shared_ptr<FileDescriptor> file_;
  Patience patience_;
  std::string name_;
};

}  // namespace holdfast::sqlite
