#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "recovery/file_lock.hpp"

/// Every file and folder that we create beside a store or a server is created by these functions.
/// What they create is for its owner only, whatever the umask, and a process that dies on the way
/// never leaves it wider than asked. What they open is refused where another user could have
/// planted it: a symbolic link, a file of another owner, a folder that others may write to. We
/// trust the user that we run as and root.
///
/// Root creates files for the owner of the folder, so that a command run with sudo on the store of
/// a service does not lock the service out.
///
/// Any thread may call them. Refusals are `ConfigError` and name the path, its owner, its mode and
/// what to do; what the system does not allow is `StoreReadOnly`; other failures are `StoreError`.
namespace holdfast {

enum class FilesFor {
  owner,  ///< folders have mode 0700, files 0600
  group,  ///< 0770 and 0660: for everybody in the group of the folder
  /// 0750 and 0640: the group of the folder may read. Refused where the group of the folder cannot
  /// be given to what is made in it.
  readers,
};

/// Makes a folder, and the missing ones above it, or checks the one that is there; true: it was
/// made. Root trusts `trusted_owner` too, and makes the folder for that user instead of the owner
/// of the folder above.
bool make_private_folder(const std::string& path, FilesFor whom = FilesFor::owner,
                         std::optional<uid_t> trusted_owner = {});
/// The same in a private folder, for those that the folder above is for.
void make_private_subfolder(const std::string& path);
/// Checks everything that is directly in a private folder.
void expect_private_entries(const std::string& folder);

/// Opens a file in a private folder, creating it if `flags` has `O_CREAT`, for those that the
/// folder is for. Narrows the mode of a file of ours that an earlier version left wider.
FileDescriptor open_private(const std::string& path, int flags);
/// The same, and empty where the system does not allow it or there is no room.
FileDescriptor try_open_private(const std::string& path, int flags);
/// Opens a file for reading; empty if it is absent, may not be read or would be refused. Throws
/// `StoreError` where descriptors or memory ran out, because whoever looks would take that for an
/// absent file, and its process for dead.
FileDescriptor look_at_private(const std::string& path);
/// Creates an empty file in any folder; empty: there is a file already. Refuses a symbolic link.
FileDescriptor create_private(const std::string& path, FilesFor whom);

/// Who owns a file, for messages: `ada (1000)`.
std::string user_text(uid_t user);

}  // namespace holdfast
