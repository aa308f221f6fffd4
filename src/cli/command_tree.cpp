#include "cli/command_tree.hpp"

#include <CLI/CLI.hpp>

namespace holdfast::cli {

namespace {

// CLI11 keeps the members of a set only in the name of the type: `TEXT:{retry,fail}`.
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto begin = type.find('{');
  const auto end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

void describe(CommandNode& node, const CLI::Option& option) {
  if (option.get_group().empty()) return;
  if (option.get_positional()) {
    if (node.choices.empty()) node.choices = choices_of(option);
    return;
  }
  const std::string type = option.get_type_name();
  for (const std::string& name : option.get_lnames())
    node.options.push_back({.text = "--" + name,
                            .description = option.get_description(),
                            .takes_value = option.get_items_expected_max() > 0,
                            .takes_file = type == "FILE" || type == "JSONL",
                            .choices = choices_of(option)});
}

void walk(const CLI::App& app, const std::string& path, std::vector<CommandNode>& tree) {
  CommandNode node{.path = path};
  for (const CLI::Option* option : app.get_options()) describe(node, *option);
  std::vector<const CLI::App*> children;
  for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!child->get_group().empty()) children.push_back(child);
  for (const CLI::App* child : children)
    node.commands.push_back({.text = child->get_name(), .description = child->get_description()});
  tree.push_back(std::move(node));
  for (const CLI::App* child : children)
    walk(*child, path.empty() ? child->get_name() : path + " " + child->get_name(), tree);
}

}  // namespace

std::vector<CommandNode> command_tree(const CLI::App& app) {
  std::vector<CommandNode> tree;
  walk(app, "", tree);
  return tree;
}

}  // namespace holdfast::cli
