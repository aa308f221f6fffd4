#pragma once

#include <sys/types.h>

#include "exec/descriptor.hpp"

namespace holdfast {

/// Ends what programs have started when the process that runs them dies. The kernel ends a program
/// with its parent, but not what the program itself has started, such as the command of a shell. So
/// a small process stands by that knows the groups of all running programs, and kills them when the
/// line to it is cut, which happens however this process ends.
class GroupGuard {
 public:
  GroupGuard();
  ~GroupGuard();
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;

  /// To be called by the leader of a new group, in the child: safe between fork and exec.
  static void begins(int guard, pid_t group);
  /// Nothing of the group is left.
  void ended(pid_t group) const;
  int get() const { return line_.get(); }

 private:
  Descriptor line_;
  pid_t pid_ = -1;
};

}  // namespace holdfast
