#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

void add_version(CLI::App& parent, Context& context) {
  CLI::App* command = parent.add_subcommand("version", "Print the version");
  command->callback([&context] {
    context.command = [&context] {
      if (context.json)
        context.print_json(JsonObject{}.text("version", HOLDFAST_VERSION).str());
      else
        context.say("holdfast " HOLDFAST_VERSION);
      return Exit::ok;
    };
  });
}

}  // namespace holdfast::cli
