#pragma once

#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/worker.hpp>

#include "cli/context.hpp"
#include "cli/log.hpp"

namespace holdfast::cli {

/// What a command that works in the foreground says when it is told to end.
struct EndWords {
  std::string_view finishing;  ///< at the first signal
  std::string_view stopping;   ///< at the second
};

/// For an `InterruptWatch`: the first signal lets `worker` finish what it runs, the second stops
/// that. Whoever asks a third time wants it gone, and others will recover what it held.
template <class Worker>
auto winding_down(Worker& worker, const Context& context, EndWords words) {
  return [&worker, &context, words](int count) {
    if (count > 2) ::_exit(static_cast<int>(Exit::interrupted));
    context.systemd.stopping();
    if (!context.quiet)
      log_line(context, Severity::info, "ending", count == 1 ? words.finishing : words.stopping);
    count == 1 ? worker.drain() : worker.hurry();
  };
}

/// What a worker did. `done` is what the JSON calls what is done, `done_text` what people read.
void print_summary(const Context& context, const WorkerSummary& summary, std::string_view done,
                   std::string_view done_text);

/// `--pass-env`, for commands that run programs; see `program_environment`.
void add_pass_environment(CLI::App& command, std::vector<std::string>& passed);

}  // namespace holdfast::cli
