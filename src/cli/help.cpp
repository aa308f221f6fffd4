#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "cli/command.hpp"

namespace holdfast::cli {

namespace {

struct HelpOptions {
  const CLI::App* app = nullptr;
  std::vector<std::string> words;
};

const CLI::App& command_in(const CLI::App& app, const std::string& word) {
  auto found = app.get_subcommands([&](const CLI::App* each) { return each->get_name() == word; });
  if (found.empty())
    throw InvalidRequest{fmt::format("there is no command '{}'; see 'holdfast --help'", word)};
  return *found.front();
}

Exit run_help(Context& context, const HelpOptions& options) {
  const CLI::App* found = options.app;
  std::string name = found->get_name();
  for (const std::string& word : options.words) {
    found = &command_in(*found, word);
    name += " " + word;
  }
  // Not `found->help()`, which would show how to use the command that was typed: this one.
  context.print(found->get_formatter()->make_help(found, name, CLI::AppFormatMode::Normal));
  return Exit::ok;
}

}  // namespace

void add_help(CLI::App& app, Context& context) {
  auto options = std::make_shared<HelpOptions>();
  options->app = &app;
  CLI::App* command = app.add_subcommand("help", "Show how a command is used");
  command->add_option("COMMAND", options->words, "The command, for example 'task add'")
      ->type_name("");
  chosen(*command, context, options, run_help);
}

}  // namespace holdfast::cli
