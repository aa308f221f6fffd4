#pragma once

#include <string>
#include <string_view>

#include "cli/context.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

/// What commands that work until they are told to end have in common: a log on standard error.
struct LogOptions {
  std::string format;  ///< --log-format; empty: as the configuration says
};
void add_log_options(CLI::App& command, LogOptions& options);
/// Before anything that has something to say.
void begin_log(Context& context, const LogOptions& options);

/// A line of the program's own, for what no event tells. `event` is its name in JSON.
void log_line(const Context& context, Severity severity, std::string_view event,
              std::string_view text);

}  // namespace holdfast::cli
