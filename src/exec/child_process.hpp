#pragma once

#include <sys/types.h>

#include "exec/descriptor.hpp"
#include "exec/group_guard.hpp"
#include "exec/program.hpp"

namespace holdfast {

/// How a process ended.
struct Ending {
  bool by_signal = false;
  int number = 0;  ///< of the signal, or the exit code
};

/// A program that runs in a process group of its own and dies with the thread that started it.
/// However this object ends, no process of the group is left and none becomes a zombie.
class ChildProcess {
 public:
  /// Starts `program` with `input` as its standard input. `lock`, if it is not -1, stays open in
  /// the child (and in what the child starts) as descriptor 3, and gets the number of the process
  /// group written into it. Throws `std::system_error` if the program cannot be started.
  ///
  /// The kernel ends the child when the calling *thread* ends, not the process. Handlers are called
  /// in threads that live as long as their worker, so for them it is the same.
  /// What the program starts ends with us only if a `guard`, which must outlive the child, knows of
  /// its group.
  static ChildProcess start(const Program& program, int input, int lock,
                            const GroupGuard* guard = nullptr);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  int ended() const { return ended_.get(); }    ///< becomes readable when the program has ended
  int output() const { return output_.get(); }  ///< what it writes to standard output
  int errors() const { return errors_.get(); }  ///< what it writes to standard error

  void signal_group(int signal) const;

  /// To be called once `ended()` is readable: ends what is left of the group, then takes the
  /// program's ending from the kernel.
  Ending reap();

 private:
  ChildProcess(pid_t pid, const GroupGuard* guard) : pid_{pid}, guard_{guard} {}

  pid_t pid_ = -1;
  const GroupGuard* guard_ = nullptr;
  Descriptor ended_;
  Descriptor output_;
  Descriptor errors_;
};

}  // namespace holdfast
