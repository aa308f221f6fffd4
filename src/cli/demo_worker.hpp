#pragma once

#include "cli/context.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

/// The hidden command that the demo starts its workers with.
void add_demo_worker(CLI::App& parent, Context& context);

}  // namespace holdfast::cli
