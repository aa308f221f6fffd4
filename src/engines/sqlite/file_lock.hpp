#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "recovery/file_lock.hpp"

namespace holdfast::sqlite {

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
