#pragma once

#include <chrono>
#include <stop_token>

#include "exec/child_process.hpp"
#include "exec/descriptor.hpp"
#include "exec/output.hpp"

namespace holdfast {

/// Readable once stop was requested, so that a poll can wait for it. Made before a program is
/// started: whatever its watching needs is there then.
class StopEvent {
 public:
  explicit StopEvent(std::stop_token stop);
  int get() const { return event_.get(); }

 private:
  struct Signal {
    int event;
    void operator()() const;
  };
  Descriptor event_;
  std::stop_callback<Signal> on_stop_;  // gone before the descriptor closes
};

/// Waits until `child` has ended and hands what it says to `output` meanwhile. When stop is
/// requested the whole group gets SIGTERM, and after `grace` SIGKILL.
Ending supervise(ChildProcess& child, const StopEvent& stopped, std::chrono::milliseconds grace,
                 Output& output);

}  // namespace holdfast
