#pragma once

#include <holdfast/task.hpp>

namespace CLI {
class App;
}

namespace holdfast::cli {

/// The options that say where a task waits and how it is found, for every command that makes some.
void add_place_options(CLI::App& command, TaskOptions& task);
/// These, and how often it is tried.
void add_task_options(CLI::App& command, TaskOptions& task);

}  // namespace holdfast::cli
