#include "scenario/cli_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// What bash offers for a command line that ends where the cursor is.
std::vector<std::string> offered(const std::vector<std::string>& words) {
  std::vector<std::string> command{
      "/bin/bash", "-c",
      "source <(\"$0\" completion bash); COMP_WORDS=(holdfast \"$@\"); COMP_CWORD=$#; _holdfast; "
      "printf '%s\\n' \"${COMPREPLY[@]}\"",
      HOLDFAST_PROGRAM};
  command.insert(command.end(), words.begin(), words.end());
  const Finished finished = run(command);
  EXPECT_TRUE(finished.ending.ok()) << finished.err;
  return lines_of(finished.out);
}

TEST(CliShell, BashCompletesCommandsOptionsAndChoices) {
  EXPECT_THAT(offered({"ta"}), ElementsAre("task"));
  EXPECT_THAT(offered({"queue", "recovery-"}), ElementsAre("recovery-status", "recovery-report"));
  EXPECT_THAT(offered({"task", "add", "mail", "--max"}), ElementsAre("--max-attempts"));
  EXPECT_THAT(offered({"task", "list", "--status", "ca"}), ElementsAre("cancelled"));
  EXPECT_THAT(offered({"--json", "worker", "list", "--st"}), ElementsAre("--state", "--store"));
  EXPECT_THAT(offered({"completion", ""}), Contains("zsh"));
  EXPECT_THAT(offered({"task", "add", "--queue", ""}), Not(Contains("--priority")));
}

TEST(CliShell, HelpIsThereForEveryLevel) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--help"}, {"task", "--help"}, {"task", "add", "--help"}, {"worker", "run", "-h"}}) {
    std::vector<std::string> command{HOLDFAST_PROGRAM};
    command.insert(command.end(), words.begin(), words.end());
    const Finished finished = run(command);
    EXPECT_TRUE(finished.ending.ok());
    EXPECT_THAT(finished.out, HasSubstr("Usage: "));
  }
  EXPECT_THAT(run({HOLDFAST_PROGRAM, "version"}).out, HasSubstr("holdfast 0."));
  EXPECT_EQ(run({HOLDFAST_PROGRAM}).ending.code, 1);
}

}  // namespace
}  // namespace holdfast::test
