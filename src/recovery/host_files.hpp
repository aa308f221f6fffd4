#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/ids.hpp>

#include "recovery/private_files.hpp"

namespace holdfast {

/// A folder of this host in which the workers of one store leave what their neighbours need after
/// their death, even if the store cannot be reached:
///
///     workers/<id>    one a worker: locked while it lives; its board of running work
///     attempts/<id>   one a running child process: locked while it or a descendant lives
class HostFiles {
 public:
  explicit HostFiles(std::string folder) : folder_{std::move(folder)} {}
  /// Creates the folders that are missing, and checks those that are there and what is in them.
  /// Root makes them for `owner`. Throws `StoreReadOnly` where we may not, and `ConfigError` where
  /// another user may have planted something.
  void make_folders(FilesFor whom = FilesFor::owner, std::optional<uid_t> owner = {}) const;

  std::string folder() const { return folder_; }
  std::string workers() const { return folder_ + "/workers"; }
  std::string worker(WorkerId id) const { return workers() + "/" + id.text(); }
  std::string attempts() const { return folder_ + "/attempts"; }
  std::string attempt(TaskId id) const { return attempts() + "/" + id.text(); }

 private:
  std::string folder_;
};

/// For a store that is not a file of this host: a folder for the user that we run as, in
/// `$XDG_RUNTIME_DIR/holdfast` or `/tmp/holdfast-UID`, which everybody who names the store by the
/// same name finds. Throws `ConfigError` if the folder belongs to another user.
HostFiles host_files_of(std::string_view store_name);

}  // namespace holdfast
