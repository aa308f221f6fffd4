#include <sqlite3.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include <boost/json/parse.hpp>

#include "scenario/cli_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class CliErrors : public CliScenario {
 protected:
  void expect_refused(std::vector<std::string> arguments, const std::string& says, int code = 1,
                      const std::string& input = {}) const {
    const Finished finished = cli(arguments, input);
    EXPECT_EQ(finished.ending.code, code) << finished.err;
    EXPECT_EQ(finished.ending.signal, 0);
    EXPECT_THAT(finished.err, StartsWith("holdfast: "));
    EXPECT_THAT(finished.err, HasSubstr(says));
  }

  /// By somebody else, in the file.
  void change(const std::string& sql) const {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(store_.database().c_str(), &db), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
};

TEST_F(CliErrors, AQuestionDoesNotCreateAStore) {
  expect_refused({"task", "list"}, "there is no store at " + store_.database());
  expect_refused({"worker", "list"}, "there is no store at");
  EXPECT_FALSE(std::filesystem::exists(store_.database()));
}

TEST_F(CliErrors, APlaceThatCannotBeWrittenIsASystemError) {
  expect_refused({"--store", "sqlite:/nowhere/at/all/work.db", "task", "add", "mail"},
                 "/nowhere/at/all/work.db: there is no folder /nowhere/at/all;", 2);
}

TEST_F(CliErrors, AQuestionDoesNotMakeAStoreOfSomebodysDatabase) {
  change("CREATE TABLE customers(name)");
  expect_refused({"task", "list"}, "no store in it");
  EXPECT_FALSE(std::filesystem::exists(store_.database() + ".holdfast"));
  add({"mail"});
  EXPECT_THAT(ok({"task", "list"}), HasSubstr("mail")) << "who asks for it gets one there";
}

TEST_F(CliErrors, AFileThatIsNotADatabaseHalts) {
  std::ofstream{store_.database()} << std::string(8192, 'x');
  expect_refused({"task", "list"}, store_.database(), 4);
  expect_refused({"task", "add", "mail"}, store_.database(), 4);
}

TEST_F(CliErrors, ANewerStoreHalts) {
  add({"mail"});
  change("UPDATE holdfast_meta SET value = 999 WHERE key = 'schema_version'");
  expect_refused({"task", "list"}, "999", 4);
}

TEST_F(CliErrors, WhatANewerVersionAddedIsNotTakenForDamage) {
  add({"mail"});
  // Away from ours by one bit, which without the table would be damage.
  change(
      "UPDATE holdfast_meta SET value = value + 1 WHERE key = 'schema_version';"
      "CREATE TABLE holdfast_shiny (a); INSERT INTO holdfast_shiny VALUES (42)");
  const std::vector<std::vector<std::string>> commands{
      {"task", "list"},
      {"task", "add", "mail"},
      {"worker", "run", "--kind", "mail", "--exec", "true"}};
  for (const auto& command : commands) expect_refused(command, "newer Holdfast", 4);
  change("DROP TABLE holdfast_shiny; CREATE INDEX shiny ON holdfast_tasks (state)");
  for (const auto& command : commands) expect_refused(command, "newer Holdfast", 4);
}

TEST_F(CliErrors, AnAddressThatIsNoneIsRefused) {
  expect_refused({"--store", "work.db", "task", "add", "mail"}, "sqlite:FILE");
  expect_refused({"--store", "sqlite:", "task", "add", "mail"}, "names no file");
  expect_refused({"--store", "sqlite:///work.db", "task", "add", "mail"}, "sqlite:/FOLDER/FILE");
  expect_refused({"--store", store_.address() + "?durability=maybe", "task", "add", "mail"},
                 "durability=power-safe");
}

TEST_F(CliErrors, NamesThatAreEmptyAreRefused) {
  add({"mail"});
  expect_refused({"queue", "pause", ""}, "queue");
  expect_refused({"worker", "run", "--kind", "", "--exec", "true"}, "kind");
  expect_refused({"worker", "run", "--kind", "mail", "--queue", "", "--exec", "true"}, "queue");
}

TEST_F(CliErrors, PayloadsThatAreNotJsonAreRefusedAndNothingIsCreated) {
  expect_refused({"task", "add", "mail", "{oops"}, "JSON");
  expect_refused({"task", "add", "mail", ""}, "JSON");
  expect_refused({"task", "add", "mail", "--file", "/nowhere.jsonl"}, "cannot read /nowhere.jsonl");
  expect_refused({"task", "add", "mail", "--file", "/tmp"}, "is a directory");
  EXPECT_FALSE(std::filesystem::exists(store_.database()));
}

TEST_F(CliErrors, TooLargeAPayloadNamesTheLimit) {
  expect_refused({"task", "add", "mail", "--file", "-"}, "standard input:1: ", 1,
                 "\"" + std::string(1'100'000, 'x') + "\"\n");
}

TEST_F(CliErrors, AbsurdValuesNameTheOptionAndWhatIsAllowed) {
  expect_refused({"task", "add", "mail", "--priority", "9"},
                 "--priority: Value 9 not in range 1 to 5");
  expect_refused({"task", "add", "mail", "--priority", "high"}, "--priority");
  expect_refused({"task", "add", "mail", "--count", "0"}, "--count");
  expect_refused({"task", "add", "mail", "--count", "99999999999999999999"}, "--count");
  expect_refused({"task", "add", "mail", "--max-attempts", "-1"}, "--max-attempts");
  expect_refused({"task", "add", "mail", "--delay", "10"}, "--delay is '10'");
  expect_refused({"task", "add", "mail", "--timeout", "0s"}, "timeout");
  expect_refused({"task", "add", "mail", "--at", "tomorrow"}, "--at is 'tomorrow'");
  expect_refused({"task", "add", "mail", "--at", "2099-01-01T00:00:00Z", "--delay", "1s"}, "--at");
  expect_refused({"task", "add", "mail", "--after", "xyz"}, "'xyz' is not the id of a task");
  expect_refused({"task", "add", "mail", "--count", "2", "--unique", "k"}, "--unique with --count");
  expect_refused({"task", "add", ""}, "kind");
  expect_refused({"task", "add"}, "KIND is required");
  expect_refused({"task", "list", "--status", "lost"}, "pending");
  expect_refused({"task", "list", "--limit", "0"}, "--limit");
  expect_refused({"task", "frobnicate"}, "unknown command 'frobnicate'; there are add, list,");
  expect_refused({"task"}, "name a command: add, list,");
  expect_refused({}, "name a command: task, queue,");
  expect_refused({"queue", "recover", "--action", "panic"}, "retry");
  expect_refused({"worker", "run", "--kind", "k", "--exec", "true", "--concurrency", "0"},
                 "--concurrency");
}

TEST_F(CliErrors, TasksThatAreNotThereAreSaidNotToBe) {
  add({"mail"});
  const std::string other = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  expect_refused({"task", "show", other}, "there is no task " + other);
  expect_refused({"task", "retry", other}, "there is no task " + other);
  expect_refused({"task", "explain", "short"}, "'short' is not the id of a task");
  expect_refused({"queue", "status", "nope"}, "there is no queue 'nope'");
  expect_refused({"task", "add", "mail", "--after", other}, other);
}

TEST_F(CliErrors, AWorkerWithoutAHandlerSaysWhereHandlersComeFrom) {
  expect_refused({"worker", "run"}, "--exec");
  expect_refused({"worker", "run", "--exec", "true"}, "--kind");
}

TEST_F(CliErrors, ConfigurationMistakesNameFileAndLine) {
  const std::string path = store_.folder() / "work.yaml";
  std::ofstream{path} << "queue:\n  heartbeat:\n    interval: 3\n";
  expect_refused({"config", "check", path}, path + ":3: unknown key 'interval'");
  expect_refused({"--config", path, "task", "add", "mail"}, path + ":3: ");
  std::ofstream{path} << "queue:\n  limits:\n    payloadBytes: 1000\nstore: bogus\n";
  expect_refused({"config", "check", path}, path + ":4: ");
  std::ofstream{path} << "queue:\n  heartbeat:\n    intervalSeconds: 0.5\n";
  EXPECT_THAT(ok({"config", "check", path}), HasSubstr("queue.heartbeat.intervalSeconds"));
  EXPECT_EQ(json({"config", "check", path}).at(0).at("queue.heartbeat.intervalSeconds"), 0.5);
  expect_refused({"config", "check"}, "which file?");
  for (const char* address : {"sqlite:", "sqlit:work.db", "redis://h:x"})
    expect_refused({"config", "check", path, "--store", address}, "address");
  expect_refused({"config", "check", path, "--store", "postgres://h/db?schema="}, "schema");
}

TEST_F(CliErrors, NoPasswordIsShown) {
  const std::string path = store_.folder() / "work.yaml";
  std::ofstream{path} << "store: postgres://ada:s3cret@127.0.0.1:1/work\n";
  for (const char* form : {"--quiet", "--json"}) {
    const Finished finished = run({HOLDFAST_PROGRAM, form, "config", "check", path});
    EXPECT_EQ(finished.ending.code, 0) << finished.err;
    EXPECT_THAT(finished.out, Not(HasSubstr("s3cret")));
  }
  for (const char* address : {"redis://ada:s3cr/et@127.0.0.1", "redis://ada:s3cret@127.0.0.1:x"}) {
    const Finished finished = run({HOLDFAST_PROGRAM, "--store", address, "queue", "status"});
    EXPECT_EQ(finished.ending.code, 1);
    EXPECT_THAT(finished.err, Not(HasSubstr("s3cr")));
  }
}

TEST_F(CliErrors, AStoreIsNotMovedOntoItself) {
  ok({"task", "add", "mail"});
  auto other = store_.database();
  other.insert(other.rfind('/'), "/.");
  const Finished finished =
      run({HOLDFAST_PROGRAM, "move", "--from", store_.address(), "--to", "sqlite:" + other});
  EXPECT_EQ(finished.ending.code, 1) << finished.out;
  EXPECT_THAT(finished.err, HasSubstr("same store"));
  ok({"task", "add", "mail"});
}

TEST_F(CliErrors, WithJsonErrorsAreJsonToo) {
  const Finished finished = cli({"--json", "task", "list"});
  EXPECT_EQ(finished.ending.code, 1);
  EXPECT_THAT(finished.out, IsEmpty());
  const auto error = boost::json::parse(finished.err);
  EXPECT_EQ(error.at("exit"), 1);
  EXPECT_THAT(std::string{error.at("error").as_string()}, HasSubstr("there is no store"));
  const auto misuse = boost::json::parse(cli({"--json", "task", "list", "--limit", "0"}).err);
  EXPECT_THAT(std::string{misuse.at("error").as_string()}, HasSubstr("--limit"));
}

TEST_F(CliErrors, NothingThatIsTypedReachesTheTerminalRaw) {
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"task", "show", "\x1b[2J"},
                                             {"\x1b[2J"},
                                             {"task", "list", "--status", "\x1b[2J"},
                                             {"task", "add", "mail", "--after", "\x1b[2J"},
                                             {"--store", "\x1b[2J", "task", "add", "mail"}}) {
    const Finished finished = cli(arguments);
    EXPECT_EQ(finished.ending.code, 1);
    EXPECT_THAT(finished.err, Not(HasSubstr("\x1b")));
    EXPECT_THAT(finished.err, HasSubstr("\\x1b[2J"));
  }
}

TEST_F(CliErrors, OutputThatCannotBeWrittenIsAnError) {
  add({"mail"});
  const Finished finished = run({"/bin/sh", "-c", "\"$0\" --store \"$1\" task list > /dev/full",
                                 HOLDFAST_PROGRAM, store_.address()});
  EXPECT_EQ(finished.ending.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("cannot write the output"));
}

}  // namespace
}  // namespace holdfast::test
