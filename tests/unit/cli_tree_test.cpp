#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <CLI/CLI.hpp>

#include "cli/completion_script.hpp"
#include "cli/program.hpp"

namespace holdfast::cli {
namespace {

using testing::HasSubstr;

std::string read(const std::string& path) {
  std::ifstream file{HOLDFAST_SOURCE_DIR "/" + path};
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::vector<CommandNode> our_tree() {
  Context context;
  return command_tree(*make_app(context));
}

const CommandNode& node(const std::vector<CommandNode>& tree, const std::string& path) {
  for (const CommandNode& each : tree)
    if (each.path == path) return each;
  throw std::runtime_error{"no command " + path};
}

TEST(CommandTree, HasEveryCommandWithItsOptionsAndTheirChoices) {
  const auto tree = our_tree();
  EXPECT_EQ(tree.front().path, "");
  bool found = false;
  for (const Word& option : node(tree, "queue recover").options) {
    if (option.text != "--action") continue;
    found = true;
    EXPECT_TRUE(option.takes_value);
    EXPECT_THAT(option.choices, testing::ElementsAre("retry", "fail", "pending"));
  }
  EXPECT_TRUE(found);
  EXPECT_THAT(node(tree, "completion").choices, testing::ElementsAre("bash", "zsh", "fish"));
}

// To write them anew: holdfast completion bash > packaging/completions/holdfast.bash, and so on.
TEST(Completions, InTheTreeAreWhatTheProgramPrints) {
  const auto tree = our_tree();
  EXPECT_EQ(read("packaging/completions/holdfast.bash"), bash_completion(tree));
  EXPECT_EQ(read("packaging/completions/holdfast.zsh"), zsh_completion(tree));
  EXPECT_EQ(read("packaging/completions/holdfast.fish"), fish_completion(tree));
}

TEST(Documents, NameEveryCommandAndOption) {
  std::string manual;
  for (const char letter : read("docs/man/holdfast.1"))
    if (letter != '\\') manual += letter;  // roff writes a hyphen as \-
  const std::string guide = read("docs/cli.md");
  for (const CommandNode& command : our_tree()) {
    if (command.commands.empty()) {
      EXPECT_THAT(guide, HasSubstr("holdfast " + command.path));
      EXPECT_THAT(manual, HasSubstr(command.path));
    }
    for (const Word& option : command.options) {
      if (option.text == "--help") continue;
      EXPECT_THAT(guide, HasSubstr("`" + option.text)) << command.path;
      EXPECT_THAT(manual, HasSubstr(option.text)) << command.path;
    }
  }
}

}  // namespace
}  // namespace holdfast::cli
