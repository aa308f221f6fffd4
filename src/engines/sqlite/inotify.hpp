#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engines/sqlite/file_lock.hpp"

namespace holdfast::sqlite {

/// The kernel's word that files changed. Where it cannot be had (the user's limit of inotify
/// instances is reached) it is not usable and says why; then look again from time to time.
class Inotify {
 public:
  struct Change {
    int watch = -1;
    std::uint32_t mask = 0;
  };

  Inotify();
  /// Watches a file or folder for the events in `mask`; returns the number of the watch.
  int watch(const std::string& path, std::uint32_t mask);
  bool usable() const { return why_not_.empty(); }
  const std::string& why_not() const { return why_not_; }

  int fd() const { return file_.get(); }  ///< readable when something changed; -1 if not usable
  /// Takes all that has happened so far; never waits.
  std::vector<Change> drain();

 private:
  void give_up();
  FileDescriptor file_;
  std::string why_not_;
};

/// A descriptor that becomes readable when somebody signals it.
class Signal {
 public:
  Signal();
  void raise() const;
  void lower() const;
  int fd() const { return file_.get(); }

 private:
  FileDescriptor file_;
};

}  // namespace holdfast::sqlite
