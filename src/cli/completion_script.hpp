#pragma once

#include <string>
#include <vector>

#include "cli/command_tree.hpp"

namespace holdfast::cli {

/// Scripts that teach a shell to complete our command line.
std::string bash_completion(const std::vector<CommandNode>& tree);
std::string zsh_completion(const std::vector<CommandNode>& tree);
std::string fish_completion(const std::vector<CommandNode>& tree);

}  // namespace holdfast::cli
