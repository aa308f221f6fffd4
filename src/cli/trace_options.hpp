#pragma once

#include <optional>
#include <string>

#include <holdfast/traces.hpp>

#include "cli/context.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

/// What commands that run tasks have in common: spans of attempts for a collector.
struct TraceFlags {
  std::string endpoint;  ///< --otlp
};
void add_trace_flags(CLI::App& command, TraceFlags& flags);

/// What the flags, the variables of OpenTelemetry and the configuration say, in this order; nothing
/// if nobody asks for traces. Throws `ConfigError` for what makes no sense, naming who said it.
std::optional<TraceOptions> trace_options(Context& context, const TraceFlags& flags);

/// The tags of a task in the trace of `--traceparent`; throws `InvalidRequest` if it is none.
std::vector<std::string> tags_of_traceparent(const std::string& traceparent);

}  // namespace holdfast::cli
