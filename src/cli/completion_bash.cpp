#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion_script.hpp"

namespace holdfast::cli {

namespace {

std::string words_of(const CommandNode& node, const CommandNode& program) {
  std::vector<std::string> words;
  for (const Word& command : node.commands) words.push_back(command.text);
  for (const auto& choice : node.choices) words.push_back(choice);
  for (const Word& option : node.options) words.push_back(option.text);
  if (!node.path.empty())
    for (const Word& option : program.options)
      if (option.text != "--help") words.push_back(option.text);
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

std::string bash_completion(const std::vector<CommandNode>& tree) {
  std::string paths, words, values;
  for (const CommandNode& node : tree) {
    if (!node.path.empty()) paths += fmt::format("      \"{}\") path=$next ;;\n", node.path);
    words += fmt::format("    \"{}\") words=\"{}\" ;;\n", node.path, words_of(node, tree.front()));
    for (const Word& option : node.options) {
      const std::string pattern =
          fmt::format("    \"{}\"{}", node.path.empty() ? "" : node.path + " ",
                      (node.path.empty() ? "*" : "") + option.text);
      if (!option.choices.empty())
        values += fmt::format("{}) words=\"{}\" ;;\n", pattern, fmt::join(option.choices, " "));
      else if (option.takes_file)
        values += fmt::format("{}) compopt -o default; return ;;\n", pattern);
      else if (option.takes_value)
        values += fmt::format("{}) return ;;\n", pattern);
    }
  }
  return fmt::format(R"(# bash completion for holdfast; made by 'holdfast completion bash'
_holdfast() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}}
  local path="" next words="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="${{path:+$path }}${{COMP_WORDS[i]}}"
    case "$next" in
{}    esac
  done
  case "$path" in
{}  esac
  case "$path${{path:+ }}$prev" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -F _holdfast holdfast
)",
                     paths, words, values);
}

}  // namespace holdfast::cli
