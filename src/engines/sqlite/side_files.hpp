#pragma once

#include <string>

#include <holdfast/ids.hpp>

namespace holdfast::sqlite {

/// The folder beside the database file, `FILE.holdfast/`, and what is in it:
///
///     write.lock        writers queue here
///     wake              touched when new work is there
///     control           touched when an operator acted
///     workers/<id>      one a worker: locked while it lives; its board of running work
///     attempts/<id>     one a running child process: locked while it or a descendant lives
class SideFiles {
 public:
  /// Creates the folders (mode 0700) if they are not there.
  explicit SideFiles(const std::string& database_path);

  std::string folder() const { return folder_; }
  std::string write_lock() const { return folder_ + "/write.lock"; }
  std::string wake() const { return folder_ + "/wake"; }
  std::string control() const { return folder_ + "/control"; }
  std::string workers() const { return folder_ + "/workers"; }
  std::string worker(WorkerId id) const { return workers() + "/" + id.text(); }
  std::string attempts() const { return folder_ + "/attempts"; }
  std::string attempt(TaskId id) const { return attempts() + "/" + id.text(); }

 private:
  std::string folder_;
};

}  // namespace holdfast::sqlite
