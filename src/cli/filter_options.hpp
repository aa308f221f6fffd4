#pragma once

#include <optional>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

namespace CLI {
class App;
}

namespace holdfast::cli {

/// The options that choose tasks, as typed; the same for every command that has them.
struct FilterOptions {
  std::vector<std::string> states{};
  std::string queue{};
  std::string kind{};
  std::string tag{};
  std::optional<int> priority{};
  std::string since{};

  bool any() const;
  TaskFilter filter() const;
  /// For questions and confirmations: ` with status failed in queue mail`.
  std::string words() const;
};

void add_filter_options(CLI::App& command, FilterOptions& options);

}  // namespace holdfast::cli
