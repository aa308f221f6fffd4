#pragma once

#include <memory>
#include <string>

#include "engines/sqlite/file_lock.hpp"
#include "engines/sqlite/side_files.hpp"

namespace holdfast::sqlite {

/// Who has a store open. Everybody shares a lock on `open.lock` as long as they do; who finds that
/// nobody else does keeps the others out until the store is ready for them. The kernel gives both
/// back when a process dies, so dying on the way lets the next one begin anew.
class OpenLock {
 public:
  /// Waits until nobody else is making the store ready. Throws `StoreError` when the patience is
  /// over, and `StoreReadOnly` where we may not lock.
  OpenLock(const SideFiles& files, Patience patience);

  /// Nobody else has the store open, and nobody can open it before `ready`.
  bool alone() const { return alone_; }
  /// Lets the others in.
  void ready();

  /// To be asked when the store is about to be closed: whether nobody else has it open. If so, it
  /// stays so until this object is gone.
  bool is_last();
  /// Only one process at a time gets this, and keeps it.
  bool try_to_be_scrubber();

  /// The boot of the machine in which somebody last made the store ready; empty: never.
  std::string last_boot() const;
  void note_boot(const std::string& boot);

  /// Whether somebody has checked the store since it was made ready. A command that is there for a
  /// moment does not, and a worker that comes meanwhile must.
  bool is_checked() const;
  void note_checked(bool checked);

  /// The process that is making the store ready now.
  static std::optional<int> doorkeeper(const SideFiles& files);

 private:
  std::string path_;
  std::shared_ptr<FileDescriptor> file_;
  bool alone_ = false;
  bool at_door_ = false;
};

}  // namespace holdfast::sqlite
