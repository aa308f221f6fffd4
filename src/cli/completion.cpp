#include "cli/command.hpp"
#include "cli/completion_script.hpp"

namespace holdfast::cli {

namespace {

struct CompletionOptions {
  std::string shell;
  const CLI::App* program = nullptr;
};

Exit run_completion(Context& context, const CompletionOptions& options) {
  const auto tree = command_tree(*options.program);
  if (options.shell == "bash") context.print(bash_completion(tree));
  if (options.shell == "zsh") context.print(zsh_completion(tree));
  if (options.shell == "fish") context.print(fish_completion(tree));
  return Exit::ok;
}

}  // namespace

void add_completion(CLI::App& parent, Context& context) {
  auto options = std::make_shared<CompletionOptions>();
  options->program = &parent;
  CLI::App* command = parent.add_subcommand("completion", "Print the completion script of a shell");
  command->add_option("SHELL", options->shell, "Which shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  chosen(*command, context, options, run_completion);
}

}  // namespace holdfast::cli
