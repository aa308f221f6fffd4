#include "scenario/cli_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

class CliReserved : public CliScenario {
 protected:
  void expect_refused(std::vector<std::string> arguments, const std::string& input = {}) const {
    const auto finished = cli(arguments, input);
    EXPECT_FALSE(finished.ending.ok()) << arguments[0] << " " << arguments[1];
    EXPECT_THAT(finished.err, HasSubstr("reserved for Holdfast itself"));
  }
};

TEST_F(CliReserved, NamesAndMembersAreRefusedByEveryCommandThatHandsWorkOver) {
  const std::string blob = R"({"$blob":"x"})", url = "http://127.0.0.1:1/";
  expect_refused({"task", "add", "holdfast.http.forget", "\"x\""});
  expect_refused({"task", "add", "keep", "--queue", "holdfast.http"});
  expect_refused({"task", "add", "keep", blob});
  expect_refused({"task", "add", "keep", "--file", "-"}, "{}\n" + blob + "\n");
  expect_refused({"schedule", "add", "s", "0 0 1 1 *", "holdfast.http"});
  expect_refused({"schedule", "add", "s", "0 0 1 1 *", "keep", blob});
  expect_refused({"schedule", "add", "s", "0 0 1 1 *", "keep", "--queue", "holdfast.http"});
  expect_refused({"http", "get", url, "--queue", "holdfast.http"});
  expect_refused({"http", "get", url, "--callback", "holdfast.http"});
  expect_refused({"http", "get", url, "--callback", "keep", "--callback-queue", "holdfast.http"});
  expect_refused({"tx", "start", "holdfast.http"});
  expect_refused({"tx", "start", "machine", blob});
  expect_refused({"batch", "submit", "--app", "holdfast.http", "--op", "op", "-"}, "{}\n");
  expect_refused({"batch", "submit", "--app", "a", "--op", "op", "--then", "holdfast.http", "-"},
                 "{}\n");
  expect_refused({"batch", "submit", "--app", "a", "--op", "op", "-"}, blob + "\n");
  EXPECT_EQ(ok({"task", "list", "--json"}), "");
}

}  // namespace
}  // namespace holdfast::test
