#include <fstream>

#include <fmt/format.h>

#include "scenario/cli_scenario.hpp"

namespace holdfast::test {
namespace {

/// The row of a command in the table of JSON members.
std::string documented_row(const std::string& command) {
  std::ifstream file{HOLDFAST_SOURCE_DIR "/docs/cli.md"};
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `") && line.find("` |") != std::string::npos &&
        line.substr(0, line.find("` |") + 1).find('`' + command + '`') != std::string::npos)
      return line.substr(line.find("` |") + 1);
  }
  return "";
}

class CliJson : public CliScenario {
 protected:
  void expect_documented(const std::string& command, std::vector<std::string> arguments) const {
    const auto row = documented_row(command);
    const auto objects = json(std::move(arguments));
    ASSERT_FALSE(objects.empty()) << command;
    for (const auto& member : objects.front())
      EXPECT_THAT(row, testing::HasSubstr('`' + std::string{member.key()} + '`')) << command;
  }
};

TEST_F(CliJson, EveryMemberIsDocumented) {
  const auto id = add({"mail", "--limit-key", "ada"});
  expect_documented("task add", {"task", "add", "mail"});
  expect_documented("task list", {"task", "list"});
  expect_documented("task explain", {"task", "explain", id});
  expect_documented("queue status", {"queue", "status"});
  expect_documented("queue pause", {"queue", "pause", "default"});
  expect_documented("queue recovery-status", {"queue", "recovery-status"});
  expect_documented("schedule add", {"schedule", "add", "nightly", "@daily", "mail"});
  expect_documented("schedule list", {"schedule", "list"});
  expect_documented("schedule pause", {"schedule", "pause", "nightly"});
  expect_documented("schedule remove", {"schedule", "remove", "nightly"});
  expect_documented("limit set", {"limit", "set", "queue", "default", "--max-running", "1"});
  expect_documented("limit list", {"limit", "list"});
  expect_documented("limit remove", {"limit", "remove", "queue", "default"});
  expect_documented("task cancel", {"task", "cancel", id});
  expect_documented("worker run",
                    {"worker", "run", "--kind", "none", "--until-empty", "--exec", "true"});
  expect_documented("worker list", {"worker", "list"});
  expect_documented("doctor", {"doctor"});
  const std::string copy = store_.folder() / "copy.db";
  expect_documented("backup", {"backup", copy});
  expect_documented("restore", {"restore", copy, "--force"});
  expect_documented("version", {"version"});
}

}  // namespace
}  // namespace holdfast::test
