#pragma once

#include <string>
#include <vector>

#include "engines/sqlite/connection.hpp"

namespace holdfast::sqlite {

/// Lets a connection to a store of an earlier version see it as if its tables were of this one:
/// what was added later has its default, or is empty. For that it has views of its own, with the
/// names of the tables that have changed; so it can write to none of these, and no statement may
/// name an index of them. Returns their names.
std::vector<std::string> show_as_current(Connection& db);

/// The same, as long as this lives.
class ShownAsCurrent {
 public:
  explicit ShownAsCurrent(Connection& db);
  ~ShownAsCurrent();
  ShownAsCurrent(const ShownAsCurrent&) = delete;
  ShownAsCurrent& operator=(const ShownAsCurrent&) = delete;

 private:
  Connection& db_;
  std::vector<std::string> names_;
};

}  // namespace holdfast::sqlite
