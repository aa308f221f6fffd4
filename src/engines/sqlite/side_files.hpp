#pragma once

#include <string>

#include <holdfast/ids.hpp>

namespace holdfast::sqlite {

/// The folder beside the database file, `FILE.holdfast/`, and what is in it:
///
///     open.lock         held by everybody who has the store open; see open_lock.hpp
///     write.lock        writers queue here
///     wake              touched when new work is there
///     control           touched when an operator acted
///     prune.lock        locked while somebody removes old tasks
///     recoveries        a locked byte for each run of recovery that writes a report
///     workers/<id>      one a worker: locked while it lives; its board of running work
///     attempts/<id>     one a running child process: locked while it or a descendant lives
///     evidence/<time>   copies of the files, made before anything was done about damage
///     suspect           damage was seen while running: the next start-up looks at everything
///     lost              commits were lost: nothing is written until an operator accepts that
class SideFiles {
 public:
  /// Creates the folders (mode 0700) if they are not there. Throws `StoreReadOnly` where we may
  /// not.
  explicit SideFiles(const std::string& database_path);
  /// The same names, and creates nothing.
  static SideFiles named(const std::string& database_path);

  std::string folder() const { return folder_; }
  std::string open_lock() const { return folder_ + "/open.lock"; }
  std::string write_lock() const { return folder_ + "/write.lock"; }
  std::string wake() const { return folder_ + "/wake"; }
  std::string control() const { return folder_ + "/control"; }
  std::string prune_lock() const { return folder_ + "/prune.lock"; }
  std::string recoveries() const { return folder_ + "/recoveries"; }
  std::string workers() const { return folder_ + "/workers"; }
  std::string worker(WorkerId id) const { return workers() + "/" + id.text(); }
  std::string attempts() const { return folder_ + "/attempts"; }
  std::string attempt(TaskId id) const { return attempts() + "/" + id.text(); }
  std::string evidence() const { return folder_ + "/evidence"; }
  std::string suspect() const { return folder_ + "/suspect"; }
  std::string lost() const { return folder_ + "/lost"; }

 private:
  SideFiles() = default;
  std::string folder_;
};

}  // namespace holdfast::sqlite
