#pragma once

#include <memory>

#include "cli/context.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

/// The whole command line. Refers to `context`.
std::unique_ptr<CLI::App> make_app(Context& context);

/// Reads the command line, runs the command and returns the exit code.
int run_program(int argc, char** argv);

}  // namespace holdfast::cli
