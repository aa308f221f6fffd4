#include "cli/log.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "documents/log_json.hpp"
#include "documents/redact.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast::cli {

void add_log_options(CLI::App& command, LogOptions& options) {
  command
      .add_option("--log-format", options.format,
                  "How the log on standard error is written; default: the configuration's, else "
                  "text")
      ->check(CLI::IsMember({"text", "json"}));
}

void begin_log(Context& context, const LogOptions& options) {
  // What is wrong with the configuration is told in this format, too.
  context.log_format = options.format == "json" ? LogFormat::json : LogFormat::text;
  const auto configured = context.program_settings().log_format;
  if (options.format.empty()) context.log_format = configured;
}

void log_line(const Context& context, Severity severity, std::string_view event,
              std::string_view said) {
  const auto text = redact_text(said).text;
  if (context.log_format == LogFormat::json)
    fmt::print(stderr, "{}\n", log_line_json(wall_now(), severity, event, text).str());
  else
    fmt::print(stderr, "holdfast: {}\n", plain(text));
}

}  // namespace holdfast::cli
