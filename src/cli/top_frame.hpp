#pragma once

#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

#include "cli/terminal.hpp"

namespace holdfast::cli {

/// A store at one moment, for `holdfast top`.
struct TopView {
  WallTime at{};
  std::string store{};
  std::string durability{};
  std::string trouble{};  ///< why the store cannot be asked now; empty: it can
  std::vector<QueueStatus> queues{};
  std::vector<WorkerStatus> workers{};  ///< running ones first
  std::vector<RecoveryReport> reports{};
  RecoveryTotals totals{};
};

/// The view in lines, in at most `height` of them; 0: in as many as it takes. `before` is an
/// earlier view, for what happens in a second, or the same one.
std::string top_frame(const TopView& view, const TopView& before, const Terminal& terminal,
                      int height);

/// How many lines each of several sections gets where there is room for so many together: the
/// short ones all that they want, the others the same.
std::vector<int> allotted(const std::vector<int>& wanted, int room);

}  // namespace holdfast::cli
