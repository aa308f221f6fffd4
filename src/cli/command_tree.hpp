#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace holdfast::cli {

/// A word that can be typed, and what may follow it.
struct Word {
  std::string text;         ///< `add` or `--queue`
  std::string description;  ///< one line
  bool takes_value = false;
  bool takes_file = false;
  std::vector<std::string> choices{};  ///< of the value, where they are known
};

/// One command with its subcommands and options, as completions and documents need it.
struct CommandNode {
  std::string path;  ///< `task add`; empty: the program itself
  std::vector<Word> commands{};
  std::vector<Word> options{};         ///< its own; those of the program fit everywhere
  std::vector<std::string> choices{};  ///< of its first argument, where they are known
};

/// The visible part of the command line, parents before children.
std::vector<CommandNode> command_tree(const CLI::App& app);

}  // namespace holdfast::cli
