#pragma once

#include <holdfast/task.hpp>

namespace CLI {
class App;
}

namespace holdfast::cli {

/// The options that say what a task is like, for every command that makes some.
void add_task_options(CLI::App& command, TaskOptions& task);

}  // namespace holdfast::cli
