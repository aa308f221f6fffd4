#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "simulation/coverage.hpp"
#include "simulation/ledger.hpp"
#include "simulation/memory_files.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::sim {

/// What one history came to.
struct Told {
  std::uint64_t seed = 0;
  std::uint64_t hash = 0;  ///< of the trace: the same seed gives the same
  std::string trace{};
  std::vector<Finding> findings{};
};

/// Tells histories, one seed each: some tasks, clients, workers, recoverers and an operator on one
/// store, who act in an order that the seed decides, and meet crashes, pauses, lost messages and
/// jumping clocks. Then the faults end, and everything has to come to an end, too.
///
/// The store is the real SQLite engine on a file of its own in memory, emptied between histories.
class Histories {
 public:
  Histories();
  ~Histories();
  Histories(const Histories&) = delete;
  Histories& operator=(const Histories&) = delete;

  /// Not aloud, there is no trace, and it takes less time.
  Told tell(std::uint64_t seed, bool aloud = true);
  const Coverage& coverage() const { return coverage_; }

 private:
  void clean_up();

  std::filesystem::path folder_;
  MemoryFiles files_;
  VirtualClock clock_;
  std::shared_ptr<EngineParts> engine_;
  std::unique_ptr<Probe> probe_;
  Coverage coverage_;
};

}  // namespace holdfast::sim
