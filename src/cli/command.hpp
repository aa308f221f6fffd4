#pragma once

#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace holdfast::cli {

/// Makes `run` what the program does if the command line names `command`. The options live as long
/// as the command that they were typed for.
template <class Options>
void chosen(CLI::App& command, Context& context, std::shared_ptr<Options> options,
            Exit (*run)(Context&, const Options&)) {
  command.callback([&context, options, run] {
    context.command = [&context, options, run] { return run(context, *options); };
  });
}

}  // namespace holdfast::cli
