#pragma once

#include <map>
#include <optional>

#include "engines/sqlite/side_files.hpp"

namespace holdfast::sqlite {

/// The files in `workers/` at one moment, each with whether its lock is held.
class WorkerFiles {
 public:
  /// Looks, and removes what workers that died before they were ready left half-made.
  static WorkerFiles look(const SideFiles& files);

  /// Nothing: the worker has no file.
  std::optional<bool> locked(WorkerId id) const;
  const std::map<WorkerId, bool>& all() const { return locked_; }

 private:
  std::map<WorkerId, bool> locked_;
};

}  // namespace holdfast::sqlite
