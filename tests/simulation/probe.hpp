#pragma once

#include <string>
#include <vector>

#include "engines/sqlite/connection.hpp"

namespace holdfast::sim {

/// What the simulation checks of a task, as it stands in the file.
struct TaskRow {
  TaskId id{};
  TaskState state = TaskState::pending;
  Token token{};
  int attempt = 0;
  int recoveries = 0;
  int crashes = 0;
  bool suspect = false;
  bool cancel_requested = false;
  WallTime run_at{};
  std::optional<Millis> lease_until{};
  std::string cause{};
};

/// A step that the store's history says recovery took.
struct RecoveryRow {
  TaskId task{};
  TaskState to = TaskState::pending;
  int attempt = 0;
  std::string reason{};
  auto operator<=>(const RecoveryRow&) const = default;
};

/// Looks at the store past every port, on a connection of its own, because what the ports say is
/// what is to be checked.
class Probe {
 public:
  explicit Probe(const std::string& database);

  std::vector<TaskRow> tasks();
  std::vector<RecoveryRow> recoveries();  ///< by task, oldest first
  std::int64_t refused();
  /// Empties the store, so that the next history finds it as new.
  void wipe();

 private:
  sqlite::Connection db_;
};

}  // namespace holdfast::sim
