#pragma once

#include <vector>

#include <holdfast/ids.hpp>

#include "recovery/file_lock.hpp"
#include "recovery/host_files.hpp"
#include "recovery/leases.hpp"

namespace holdfast {

/// `attempts/<task id>`, locked: the worker opens it, the child process of the attempt inherits it
/// and writes its process group into it. As long as anybody has it open, the attempt goes on.

/// Takes the lock for a new attempt. Throws `EarlierAttemptRuns` if processes of an earlier attempt
/// still hold it after a moment.
FileDescriptor take_child_lock(const HostFiles& files, TaskId task);
/// Removes the file if it still is the one of `fd`.
void drop_child_lock(const HostFiles& files, TaskId task, int fd);

/// The lock of a process that serves one attempt after the other, under no attempt's name yet: the
/// process inherits it. Removes what those left that are gone.
FileDescriptor make_shared_child_lock(const HostFiles& files);
/// Makes `lock` the lock of an attempt, too, by another name for its file. Throws as
/// `take_child_lock`.
void share_child_lock(const HostFiles& files, TaskId task, int lock);

/// Whether a process of an attempt at `task` outlived its worker. If so, it is killed (with its
/// process group), which takes a moment: ask again. To be asked about orphans only.
bool child_still_running(const HostFiles& files, TaskId task);

/// A child process that outlived its worker is killed by the first look at it, and gone a moment
/// later; work of one that is not gone yet is left out of the list, for the next time.
void leave_out_running_children(const HostFiles& files, std::vector<Orphan>& orphans);

/// False: there is no such file, nobody need be asked about.
bool any_child_locks(const HostFiles& files);

}  // namespace holdfast
