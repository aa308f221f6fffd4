#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/point.hpp"

namespace holdfast::server {

/// How a store was over time: seconds for an hour, minutes for two days, hours for a year. That is
/// at most 15,240 points of less than 400 bytes, so a store costs no more than 6 MB, for ever.
/// Kept in a file of the server, not in the store: every engine has it in the same way, and being
/// watched does not cost a store writes or memory. Safe to use from many threads.
class History {
 public:
  /// Reads what an earlier server kept of `store`. Throws if the file cannot be used.
  History(const std::string& path, std::string store);
  ~History();

  void add(const Point& point);
  /// Writes what is new. What was added since is lost in a crash.
  void flush();

  struct Read {
    int resolution_s = 1;
    std::vector<Point> points{};
  };
  /// From `since` until now, at the finest resolution that goes back so far.
  Read since(WallTime since, WallTime now) const;

 private:
  struct Level;
  class File;

  void add_to(std::size_t level, const Point& point);

  std::string store_;
  mutable std::mutex mutex_;
  std::vector<Level> levels_;
  std::unique_ptr<File> file_;
};

}  // namespace holdfast::server
