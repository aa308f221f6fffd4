#pragma once

#include <map>
#include <string>
#include <vector>

#include <holdfast/ids.hpp>

namespace holdfast::test {

/// What a store promises to keep, as lines of text: every row of the tables about tasks and
/// workers. Read with a plain SQLite, past the engine and past all faults. Ids of workers, which
/// differ from run to run, are replaced, so that two runs that did the same have the same lines.
struct Snapshot {
  std::vector<std::string> rows{};

  /// Of one task, what nothing but an accepted write may change.
  struct Task {
    int state = 0;
    std::string payload{};
    std::string result{};
    std::vector<std::string> effects{};
    bool operator==(const Task&) const = default;
  };
  std::map<std::string, Task> tasks{};  ///< by id
  std::vector<WorkerId> workers{};

  bool operator==(const Snapshot& other) const { return rows == other.rows; }
};

/// A file that is not there, or has no tables yet, is an empty one. Throws if SQLite finds the file
/// damaged; with `check`, everything is looked at for that.
Snapshot snapshot(const std::string& path, bool check);

/// The first lines in which they differ; empty if there are none.
std::string difference(const Snapshot& expected, const Snapshot& found);

}  // namespace holdfast::test
