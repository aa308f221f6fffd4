#include "scenario/cli_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

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

/// The words that begin with the last one on the command line, of what a shell offers for it: a
/// line each, with or without a description behind it.
std::vector<std::string> fitting(const std::vector<std::string>& words, const Finished& finished) {
  EXPECT_TRUE(finished.ending.ok()) << finished.err;
  EXPECT_EQ(finished.err, "");
  std::vector<std::string> found;
  for (const auto& line : lines_of(finished.out)) {
    auto word = line.substr(0, line.find_first_of("\t:"));
    if (word.starts_with(words.back())) found.push_back(word);
  }
  return found;
}

std::vector<std::string> offered_by_fish(const std::vector<std::string>& words) {
  std::string line = "holdfast";
  for (const auto& word : words) line += " " + word;
  return fitting(words, run({"/usr/bin/fish", "--no-config", "-c",
                             "$argv[1] completion fish | source; complete -C $argv[2]",
                             HOLDFAST_PROGRAM, line}));
}

/// With what zsh has for completions replaced, because the real thing needs a terminal.
std::vector<std::string> offered_by_zsh(const std::vector<std::string>& words) {
  std::vector<std::string> command{
      "/usr/bin/zsh", "-f", "-c",
      "_describe() { print -l -- \"${(@P)2}\" }; compadd() { shift; print -l -- \"$@\" };"
      " _files() { print files }; words=(holdfast \"$@\"); CURRENT=$#words;"
      " source <(\"$0\" completion zsh)",
      HOLDFAST_PROGRAM};
  command.insert(command.end(), words.begin(), words.end());
  return fitting(words, run(command));
}

TEST(CliShell, FishAndZshCompleteTheSame) {
  for (auto offered_by : {offered_by_fish, offered_by_zsh}) {
    EXPECT_THAT(offered_by({"ta"}), ElementsAre("task"));
    EXPECT_THAT(offered_by({"queue", "recovery-"}),
                UnorderedElementsAre("recovery-status", "recovery-report"));
    EXPECT_THAT(offered_by({"task", "add", "mail", "--max"}), ElementsAre("--max-attempts"));
    EXPECT_THAT(offered_by({"task", "list", "--status", "ca"}), ElementsAre("cancelled"));
    EXPECT_THAT(offered_by({"--json", "worker", "list", "--st"}),
                UnorderedElementsAre("--state", "--store"));
    EXPECT_THAT(offered_by({"completion", ""}), Contains("zsh"));
    EXPECT_THAT(offered_by({"task", "add", "--queue", ""}), Not(Contains("--priority")));
  }
}

TEST(CliShell, HelpIsThereForEveryLevel) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--help"},
                                             {"task", "--help"},
                                             {"task", "add", "--help"},
                                             {"worker", "run", "-h"},
                                             {"help"}}) {
    std::vector<std::string> command{HOLDFAST_PROGRAM};
    command.insert(command.end(), words.begin(), words.end());
    const Finished finished = run(command);
    EXPECT_TRUE(finished.ending.ok());
    EXPECT_THAT(finished.out, HasSubstr("Usage: "));
  }
  EXPECT_THAT(run({HOLDFAST_PROGRAM, "help", "task", "add"}).out,
              HasSubstr("Usage: holdfast task add"));
  EXPECT_THAT(run({HOLDFAST_PROGRAM, "help"}).out, HasSubstr("Usage: holdfast [OPTIONS]"));
  EXPECT_THAT(run({HOLDFAST_PROGRAM, "help", "task", "ad"}).err, HasSubstr("no command 'ad'"));
  for (const char* version : {"version", "--version"})
    EXPECT_THAT(run({HOLDFAST_PROGRAM, version}).out, HasSubstr("holdfast 0."));
  EXPECT_EQ(run({HOLDFAST_PROGRAM}).ending.code, 1);
}

}  // namespace
}  // namespace holdfast::test
