#include <signal.h>

#include <algorithm>
#include <fstream>

#include <boost/json/parse.hpp>

#include "scenario/cli_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

/// The lines of a log, each of which must be one JSON object with what every line has.
std::vector<boost::json::object> log_of(const std::string& text) {
  std::vector<boost::json::object> lines;
  for (const auto& line : lines_of(text)) {
    boost::system::error_code wrong;
    const auto value = boost::json::parse(line, wrong);
    if (wrong || !value.is_object()) {
      ADD_FAILURE() << "not an object: " << line;
      continue;
    }
    for (const char* member : {"time", "level", "event", "message"})
      EXPECT_TRUE(value.as_object().contains(member)) << line;
    lines.push_back(value.as_object());
  }
  return lines;
}

bool has(const std::vector<boost::json::object>& log, const char* event) {
  return std::ranges::any_of(log, [&](const auto& line) { return line.at("event") == event; });
}

class JsonLog : public CliScenario {};

TEST_F(JsonLog, IsOneObjectALineWhateverAProgramSays) {
  const auto id = add({"nasty", "--max-attempts", "1"});
  const auto done = cli({"worker", "run", "--kind", "nasty", "--until-empty", "--log-format",
                         "json", "--exec", R"(printf '"\033[2J\377\n' >&2; exit 65)"});
  EXPECT_TRUE(done.ending.ok());
  const auto log = log_of(done.err);
  EXPECT_TRUE(has(log, "worker_started"));
  const auto failed = std::ranges::find_if(
      log, [](const auto& line) { return line.at("event") == "task_changed"; });
  ASSERT_NE(failed, log.end()) << done.err;
  EXPECT_EQ(failed->at("level"), "warning");
  EXPECT_EQ(failed->at("task").as_string(), id);
  EXPECT_EQ(failed->at("to"), "failed");
  EXPECT_EQ(failed->at("store").as_string(), store_.address());
}

TEST_F(JsonLog, IsWhatTheConfigurationAsksForUnlessTheCommandLineDoes) {
  const auto config = (store_.folder() / "holdfast.yaml").string();
  std::ofstream{config} << "log: {format: json}\n";
  auto worker = start({"--config", config, "worker", "run", "--kind", "a", "--exec", "true"});
  ASSERT_TRUE(eventually([&] { return worker.err().find('\n') != std::string::npos; }));
  worker.signal(SIGTERM);
  ASSERT_TRUE(worker.wait());
  EXPECT_TRUE(has(log_of(worker.err()), "ending")) << worker.err();
  const auto text = cli({"--config", config, "worker", "run", "--kind", "a", "--until-empty",
                         "--log-format", "text", "--exec", "true"});
  EXPECT_THAT(text.err, HasSubstr("[info] worker "));
  EXPECT_THAT(ok({"config", "check", config}), HasSubstr("json"));
}

TEST_F(JsonLog, HasTheErrorThatEndsACommandInIt) {
  const std::vector<std::vector<std::string>> commands{
      {"worker", "run", "--kind", "a", "--exec", "true"},
      {"http", "run"},
      {"batch", "run", "--app", "a", "--op", "o", "--exec", "cat"},
      {"results", "run", "--blobs", "dir:b", "--request-queue", "q", "--notify-queue", "n"},
      {"serve"}};
  for (const auto& words : commands) {
    std::vector<std::string> command{HOLDFAST_PROGRAM, "--store", "nonsense:x"};
    command.insert(command.end(), words.begin(), words.end());
    command.insert(command.end(), {"--log-format", "json"});
    const auto done = run(command);
    EXPECT_EQ(done.ending.code, 1);
    const auto log = log_of(done.err);
    ASSERT_EQ(log.size(), 1U) << done.err;
    EXPECT_EQ(log[0].at("event"), "failed");
    EXPECT_EQ(log[0].at("level"), "error");
    EXPECT_EQ(log[0].at("exit"), 1);
    EXPECT_THAT(std::string{log[0].at("message").as_string()}, HasSubstr("nonsense"));
  }
}

}  // namespace
}  // namespace holdfast::test
