#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion_script.hpp"

namespace holdfast::cli {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') out += '\\';
    out += letter;
  }
  return out + "'";
}

std::string option_line(const std::string& where, const Word& option) {
  std::string line = fmt::format("complete -c holdfast{} -l {} -d {}", where, option.text.substr(2),
                                 quoted(option.description));
  if (!option.choices.empty())
    line += fmt::format(" -x -a {}", quoted(fmt::format("{}", fmt::join(option.choices, " "))));
  else if (option.takes_file)
    line += " -r -F";
  else if (option.takes_value)
    line += " -x";
  return line + "\n";
}

}  // namespace

std::string fish_completion(const std::vector<CommandNode>& tree) {
  std::string paths, lines;
  for (const CommandNode& node : tree) {
    if (!node.path.empty()) paths += " " + quoted(node.path);
    const std::string where =
        fmt::format(" -n {}", quoted(fmt::format("__holdfast_at '{}'", node.path)));
    for (const Word& command : node.commands)
      lines += fmt::format("complete -c holdfast{} -a {} -d {}\n", where, command.text,
                           quoted(command.description));
    for (const auto& choice : node.choices)
      lines += fmt::format("complete -c holdfast{} -a {}\n", where, choice);
    // What the program takes fits after every command.
    for (const Word& option : node.options)
      lines += option_line(node.path.empty() ? "" : where, option);
  }
  return fmt::format(R"(# fish completion for holdfast; made by 'holdfast completion fish'
function __holdfast_at
    set -l path ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim "$path $word")
        contains -- $next{}
        and set path $next
    end
    test "$path" = "$argv[1]"
end
complete -c holdfast -f
{})",
                     paths, lines);
}

}  // namespace holdfast::cli
