#pragma once

#include <holdfast/ids.hpp>

#include "engines/sqlite/file_lock.hpp"
#include "engines/sqlite/side_files.hpp"

namespace holdfast::sqlite {

/// `attempts/<task id>`, locked: the worker opens it, the child process of the attempt inherits it
/// and writes its process group into it. As long as anybody has it open, the attempt goes on.

/// Takes the lock for a new attempt. Throws `EarlierAttemptRuns` if processes of an earlier attempt
/// still hold it after a moment.
FileDescriptor take_child_lock(const SideFiles& files, TaskId task);
/// Removes the file if it still is the one of `fd`.
void drop_child_lock(const SideFiles& files, TaskId task, int fd);

/// Whether a process of an attempt at `task` outlived its worker. If so, it is killed (with its
/// process group), which takes a moment: ask again. To be asked about orphans only.
bool child_still_running(const SideFiles& files, TaskId task);

/// False: there is no such file, nobody need be asked about.
bool any_child_locks(const SideFiles& files);

}  // namespace holdfast::sqlite
