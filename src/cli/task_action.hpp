#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "cli/filter_options.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

/// Which tasks an action is for: ids, or everything that matches.
struct ActionOptions {
  std::vector<std::string> ids{};
  FilterOptions filter{};
  bool all = false;
  bool yes = false;
  bool force = false;  ///< only `task cancel` has it
};

void add_action_options(CLI::App& command, ActionOptions& options, const std::string& verb);

struct Action {
  std::string verb;  ///< `retry`
  std::string past;  ///< `retried`
  std::string can;   ///< which tasks it works on, for when it changed nothing
  /// Why it did nothing to a task that it works on; empty: it does not.
  std::function<std::string(const TaskRecord&)> why_not;
  std::function<std::int64_t(Inspector&, const TaskFilter&)> apply;
};

/// Finds the tasks, asks where many are at stake and somebody is there to answer, acts, and says
/// how many were changed.
Exit act(Context& context, const ActionOptions& options, const Action& action);

}  // namespace holdfast::cli
