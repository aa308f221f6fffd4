#include <fstream>

#include "scenario/cli_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

const std::string samples = HOLDFAST_SOURCE_DIR "/packaging/config";

/// The value of a variable in a file for systemd. Quoted words in it are as in a shell.
std::string command_line_in(const std::string& file, const std::string& variable) {
  const auto done =
      run({"/bin/sh", "-c", ". \"$0\"; eval \"printf '%s' \\\"\\$$1\\\"\"", file, variable});
  EXPECT_TRUE(done.ending.ok()) << done.err;
  return done.out;
}

class Samples : public CliScenario {};

TEST_F(Samples, OfTheConfigurationAreAccepted) {
  const auto out = run({HOLDFAST_PROGRAM, "config", "check", samples + "/holdfast.yaml"});
  EXPECT_TRUE(out.ending.ok()) << out.err;
  EXPECT_THAT(out.out, HasSubstr("sqlite:/var/lib/holdfast/work.db"));
}

TEST_F(Samples, OfAWorkerRun) {
  const auto words = command_line_in(samples + "/workers/example.conf", "WORKER");
  EXPECT_THAT(words, HasSubstr("worker run"));
  // The kind is one that nobody has enqueued, so logger is not run here.
  const auto done = run({"/bin/sh", "-c", "eval \"exec \\\"$0\\\" $2 --store '$1' --until-empty\"",
                         HOLDFAST_PROGRAM, store_.address(), words});
  EXPECT_TRUE(done.ending.ok()) << done.err;
  EXPECT_THAT(done.out, HasSubstr("0 completed"));
}

TEST_F(Samples, OfTheServerStartIt) {
  EXPECT_EQ(command_line_in(samples + "/server.conf", "SERVER_OPTIONS"), "");
}

}  // namespace
}  // namespace holdfast::test
