#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace holdfast::cli {

void add_demo(CLI::App&, Context&) {}

}  // namespace holdfast::cli
