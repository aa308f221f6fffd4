#include "cli/foreground.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "documents/json.hpp"

namespace holdfast::cli {

void print_summary(const Context& context, const WorkerSummary& summary, std::string_view done,
                   std::string_view done_text) {
  if (context.json)
    context.print_json(JsonObject{}
                           .number(done, summary.completed)
                           .number("failed_attempts", summary.failed_attempts)
                           .number("given_back", summary.given_back)
                           .number("refused", summary.refused)
                           .number("left_behind", summary.left_behind)
                           .str());
  else
    context.confirm(fmt::format(
        "{} {}, {} failed attempts, {} given back, {} stale writes refused{}", summary.completed,
        done_text, summary.failed_attempts, summary.given_back, summary.refused,
        summary.left_behind == 0
            ? ""
            : fmt::format(", {} handlers that did not stop", summary.left_behind)));
}

void add_pass_environment(CLI::App& command, std::vector<std::string>& passed) {
  command
      .add_option("--pass-env", passed,
                  "Pass this environment variable to the program although Holdfast withholds it, "
                  "such as HOLDFAST_STORE or PGPASSWORD; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME");
}

}  // namespace holdfast::cli
