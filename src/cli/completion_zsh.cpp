#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion_script.hpp"

namespace holdfast::cli {

namespace {

// Inside single quotes, for `_describe`, which separates word and description by a colon.
std::string entry(const Word& word) {
  std::string text;
  for (const char letter : word.text + "\n" + word.description) {
    if (letter == '\'')
      text += "'\\''";
    else if (letter == ':')
      text += "\\:";
    else
      text += letter == '\n' ? ':' : letter;
  }
  return "'" + text + "'";
}

std::string entries(const std::vector<Word>& words) {
  std::string text;
  for (const Word& word : words) text += "\n        " + entry(word);
  return text;
}

}  // namespace

std::string zsh_completion(const std::vector<CommandNode>& tree) {
  std::string paths, words, values;
  for (const CommandNode& node : tree) {
    if (!node.path.empty()) paths += fmt::format("      \"{}\") path_=$next ;;\n", node.path);
    words += fmt::format("    \"{}\")\n      commands=({})\n      options=({})\n", node.path,
                         entries(node.commands), entries(node.options));
    if (!node.choices.empty())
      words += fmt::format("      choices=({})\n", fmt::join(node.choices, " "));
    words += "      ;;\n";
    for (const Word& option : node.options) {
      const std::string pattern = node.path.empty()
                                      ? fmt::format("    *{}", option.text)
                                      : fmt::format("    \"{} {}\"", node.path, option.text);
      if (!option.choices.empty())
        values +=
            fmt::format("{}) compadd -- {}; return ;;\n", pattern, fmt::join(option.choices, " "));
      else if (option.takes_file)
        values += fmt::format("{}) _files; return ;;\n", pattern);
      else if (option.takes_value)
        values += fmt::format("{}) return ;;\n", pattern);
    }
  }
  return fmt::format(R"(#compdef holdfast
# zsh completion for holdfast; made by 'holdfast completion zsh'
_holdfast() {{
  local path_="" next i found=1
  local -a commands options choices everywhere
  everywhere=({})
  for ((i = 2; i < CURRENT; i++)); do
    next="${{path_:+$path_ }}${{words[i]}}"
    case "$next" in
{}    esac
  done
  case "$path_ ${{words[CURRENT - 1]}}" in
{}  esac
  case "$path_" in
{}  esac
  (( $#commands )) && _describe command commands && found=0
  (( $#choices )) && compadd -- $choices && found=0
  _describe option options && found=0
  [[ -n $path_ ]] && _describe 'option of every command' everywhere && found=0
  return found
}}
_holdfast "$@"
)",
                     entries(tree.front().options), paths, values, words);
}

}  // namespace holdfast::cli
