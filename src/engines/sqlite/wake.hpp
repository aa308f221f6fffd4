#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include <holdfast/events.hpp>

#include "engines/sqlite/inotify.hpp"
#include "engines/sqlite/side_files.hpp"
#include "tasks/task_store.hpp"

namespace holdfast::sqlite {

/// How processes on one store wake each other without polling: who has news touches a file that
/// the others watch. Any number of threads may wait at the same time; each hears of everything that
/// happened since its own last wait.
class WorkWatch {
 public:
  /// `events` hears once if waiting must poll because the kernel gives no notifications. Without
  /// `may_write` there is nothing to announce and nothing to hear.
  WorkWatch(const SideFiles& files, const Events& events, bool may_write = true,
            Inotify inotify = Inotify{})
      : WorkWatch{files.wake(), files.control(), events, may_write, std::move(inotify)} {}
  WorkWatch(const std::string& work, const std::string& control, const Events& events,
            bool may_write, Inotify inotify = Inotify{});

  /// New work may be there.
  void announce_work() const;
  /// An operator acted: cancelled, paused, resumed.
  void announce_control() const;

  Wake wait(Millis timeout);
  /// Ends every wait of this object now, and the next one of a thread that is not waiting.
  void interrupt();

 private:
  struct News {
    std::uint64_t work = 0;
    std::uint64_t control = 0;
    std::uint64_t interrupts = 0;
  };
  using Deadline = std::chrono::steady_clock::time_point;
  void listen(Deadline deadline, std::unique_lock<std::mutex>& lock);
  void say_that_we_poll();

  FileDescriptor work_file_;
  FileDescriptor control_file_;
  const Events& events_;
  Inotify inotify_;
  int control_watch_ = -1;
  Signal interrupt_;

  std::mutex mutex_;
  std::condition_variable heard_;
  bool listening_ = false;  // one thread reads the descriptors for all
  bool said_that_we_poll_ = false;
  News news_;
  std::map<std::thread::id, News> seen_;
};

}  // namespace holdfast::sqlite
