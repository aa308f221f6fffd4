#pragma once

#include "cli/context.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

/// Each adds one command to `holdfast batch`.
void add_batch_submit(CLI::App& parent, Context& context);
void add_batch_append(CLI::App& parent, Context& context);
void add_batch_watch(CLI::App& parent, Context& context);
void add_batch_release(CLI::App& parent, Context& context);
void add_batch_abort(CLI::App& parent, Context& context);
void add_batch_status(CLI::App& parent, Context& context);
void add_batch_rows(CLI::App& parent, Context& context);
void add_batch_output(CLI::App& parent, Context& context);
void add_batch_run(CLI::App& parent, Context& context);
void add_batch_recover(CLI::App& parent, Context& context);
void add_batch_list(CLI::App& parent, Context& context);

}  // namespace holdfast::cli
