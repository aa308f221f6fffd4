#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>

#include <holdfast/task.hpp>

#include "engines/sqlite/inotify.hpp"
#include "engines/sqlite/side_files.hpp"

namespace holdfast::sqlite {

/// Notices that a worker of this store died: its file is there, but nobody holds its lock. Costs a
/// few system calls ten times a second and never touches the database.
class DeathWatch {
 public:
  explicit DeathWatch(const SideFiles& files, Inotify inotify = Inotify{});

  /// True: some worker is dead and its file has not been cleared away. Each is told at once, and
  /// again from time to time while it is still there.
  bool wait(Millis timeout, std::stop_token stop);

 private:
  using Moment = std::chrono::steady_clock::time_point;
  struct Watched {
    FileDescriptor file;
    Moment told{};
  };
  bool somebody_died();
  void list_files();

  std::string folder_;
  Inotify inotify_;
  std::mutex mutex_;
  bool listed_ = false;  // false: files may have come or gone
  std::map<std::string, Watched> files_;
};

}  // namespace holdfast::sqlite
