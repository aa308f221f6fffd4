#include <signal.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <boost/json/serialize.hpp>

#include "scenario/cli_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class CliWorker : public CliScenario {
 protected:
  // A worker whose program says that it runs and then waits to be ended.
  Process start_waiting() const {
    return start({"worker", "run", "--kind", "wait", "--exec", "echo started; exec sleep 600"});
  }
  // Signals of a kind that come too quickly are one.
  static void signal_twice(Process& worker, int number) {
    worker.signal(number);
    EXPECT_TRUE(eventually([&] { return worker.err().find("once more") != std::string::npos; }));
    worker.signal(number);
  }
  bool is_running(const std::string& id) const {
    return eventually([&] {
      return ok({"task", "logs", id}).find("started") != std::string::npos;
    });
  }
};

TEST_F(CliWorker, RunsAProgramForEachTask) {
  const std::string id = add({"greet", R"({"name":"ada"})"});
  const std::string out = ok({"worker", "run", "--kind", "greet", "--until-empty", "--exec",
                              R"(cat; echo; echo '{"hello":"ada"}')"});
  EXPECT_THAT(out, HasSubstr("1 completed"));
  const auto task = json({"task", "show", id}).at(0);
  EXPECT_EQ(task.at("state"), "completed");
  EXPECT_EQ(task.at("result").at("hello"), "ada");
  EXPECT_THAT(ok({"task", "logs", id}), HasSubstr(R"(#1  {"name":"ada"})"));
}

TEST_F(CliWorker, ArgumentsWithDashesFollowTwoDashes) {
  const std::string id = add({"greet"});
  ok({"worker", "run", "--kind", "greet", "--until-empty", "--", "printf", "%s-%s", "-n", "[1,2]"});
  EXPECT_THAT(ok({"task", "logs", id}), HasSubstr("-n-[1,2]"));
}

TEST_F(CliWorker, AProgramAfterTwoDashesIsNotForTheShell) {
  const std::string program = (store_.folder() / "a program; false").string();
  std::ofstream{program} << "#!/bin/sh\necho it ran\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const std::string id = add({"greet"});
  ok({"worker", "run", "--kind", "greet", "--until-empty", "--", program});
  EXPECT_THAT(ok({"task", "logs", id}), HasSubstr("it ran"));
}

TEST_F(CliWorker, ExplainKnowsThatTheOnlyHandlerIsBusy) {
  const std::string first = add({"wait"}), second = add({"wait"});
  auto worker =
      start({"worker", "run", "--kind", "wait", "--concurrency", "1", "--exec", "sleep 60"});
  ASSERT_TRUE(eventually([&] { return state_of(first) == "running"; }));
  ASSERT_TRUE(eventually([&] {
    return state_of(second) == "running" ||
           ok({"task", "explain", second}).find("are busy") != std::string::npos;
  }));
}

TEST_F(CliWorker, WhatAProgramPrintsIsNeverSentToTheTerminalRaw) {
  const std::string id = add({"nasty", "--max-attempts", "1"});
  const Finished finished = cli(
      {"worker", "run", "--kind", "nasty", "--until-empty", "--exec",
       R"(printf '\033[2J\302\233 \342\200\256\377\n'; printf '\033]0;owned\007\n' >&2; exit 65)"});
  EXPECT_THAT(finished.err, Not(HasSubstr("\x1b")));
  EXPECT_EQ(state_of(id), "failed");
  for (const char* command : {"show", "logs", "explain"}) {
    const std::string out = ok({"task", command, id});
    EXPECT_THAT(out, Not(HasSubstr("\x1b"))) << command;
    EXPECT_THAT(out, Not(HasSubstr("\xc2\x9b"))) << command;
    EXPECT_THAT(out, Not(HasSubstr("\xe2\x80\xae"))) << command;
    EXPECT_THAT(ok({"--json", "task", command, id}), Not(HasSubstr("\x1b"))) << command;
    json({"task", command, id});
  }
  EXPECT_THAT(ok({"task", "logs", id}), HasSubstr("\\x1b[2J"));
  EXPECT_THAT(ok({"task", "list"}), Not(HasSubstr("\x1b")));
}

TEST_F(CliWorker, TerminationGivesTheTaskBackAndIsNoError) {
  const std::string id = add({"wait"});
  Process worker = start_waiting();
  ASSERT_TRUE(is_running(id));
  signal_twice(worker, SIGTERM);
  const auto ending = worker.wait();
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->code, 0) << worker.err();
  EXPECT_THAT(worker.out(), HasSubstr("1 given back"));
  EXPECT_THAT(cli({"task", "show", id, "--json"}).out, HasSubstr("Its worker stopped its handler"));
  const auto task = json({"task", "show", id}).at(0);
  EXPECT_EQ(task.at("state"), "pending");
  EXPECT_EQ(task.at("attempt"), 0);
}

TEST_F(CliWorker, AnInterruptSaysSo) {
  const std::string id = add({"wait"});
  Process worker = start_waiting();
  ASSERT_TRUE(is_running(id));
  signal_twice(worker, SIGINT);
  const auto ending = worker.wait();
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->code, 130) << worker.err();
  EXPECT_EQ(state_of(id), "pending");
}

TEST_F(CliWorker, ACancelEndsTheProgram) {
  const std::string id = add({"wait"});
  Process worker = start_waiting();
  ASSERT_TRUE(is_running(id));
  ok({"task", "cancel", id});
  EXPECT_TRUE(eventually([&] { return state_of(id) == "cancelled"; }));
}

TEST_F(CliWorker, WorkOfAKilledWorkerIsSeenAndTakenBack) {
  const std::string id = add({"wait"});
  Process worker = start_waiting();
  ASSERT_TRUE(is_running(id));
  EXPECT_EQ(json({"worker", "list"}).at(0).at("state"), "running");
  EXPECT_EQ(json({"queue", "recovery-status"}).at(0).at("waiting"), 0);
  worker.kill();
  EXPECT_EQ(json({"queue", "recovery-status"}).at(0).at("waiting"), 1);
  EXPECT_THAT(ok({"queue", "recovery-status"}), HasSubstr("'holdfast queue recover'"));
  EXPECT_EQ(json({"queue", "recover", "--dry-run"}).at(0).at("state"), "dry run");
  EXPECT_THAT(ok({"queue", "recover", "--dry-run"}), HasSubstr("would be taken back: 1\n  " + id));
  EXPECT_EQ(state_of(id), "running");
  const auto report = json({"queue", "recover"}).at(0);
  EXPECT_THAT(boost::json::serialize(report), HasSubstr(id));
  EXPECT_EQ(state_of(id), "pending");
  EXPECT_EQ(json({"queue", "recovery-status"}).at(0).at("waiting"), 0);
  EXPECT_EQ(json({"queue", "recovery-status"}).at(0).at("last_recovered"), 1);
  EXPECT_THAT(json({"queue", "recovery-report", "--last", "5"}), SizeIs(1));
  EXPECT_THAT(ok({"queue", "recovery-report"}), HasSubstr(id));
  EXPECT_EQ(json({"queue", "recovery-status"}).at(0).at("totals").at("pending"), 1);
  EXPECT_THAT(ok({"queue", "metrics"}), HasSubstr("holdfast_store_recoveries_total"));
  EXPECT_THAT(ok({"worker", "list", "--show-heartbeat"}), HasSubstr("dead"));
}

TEST_F(CliWorker, WithoutItsProgramItChargesNothingAndSaysSo) {
  const std::string program = (store_.folder() / "program").string();
  const auto install = [&] {
    std::ofstream{program} << "#!/bin/sh\necho it ran\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  };
  for (const bool as_a_line : {false, true}) {
    install();
    const auto kind = as_a_line ? "line" : "program";
    auto worker = as_a_line ? start({"worker", "run", "--kind", kind, "--exec", program})
                            : start({"worker", "run", "--kind", kind, "--", program});
    const std::string first = add({kind});
    ASSERT_TRUE(eventually([&] { return state_of(first) == "completed"; })) << worker.err();
    std::filesystem::remove(program);
    std::vector<std::string> ids;
    for (int i = 0; i < 20; ++i) ids.push_back(add({kind, "--max-attempts", "1"}));
    ASSERT_TRUE(eventually(
        [&] { return worker.err().find("cannot run tasks of kind") != std::string::npos; }));
    for (const auto& id : ids) EXPECT_NE(state_of(id), "failed");
    install();
    for (const auto& id : ids)
      EXPECT_TRUE(eventually([&] { return state_of(id) == "completed"; })) << worker.err();
    EXPECT_THAT(worker.err(), HasSubstr("can run tasks of kind"));
  }
}

TEST_F(CliWorker, KeepsAFileOfWhatItCounts) {
  const std::string path = store_.folder() / "one.prom";
  add({"greet"});
  ok({"worker", "run", "--kind", "greet", "--until-empty", "--exec", "true", "--metrics-file",
      path});
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr(R"(process="one",from="running",to="completed"} 1)"));
  const Finished refused = cli({"worker", "run", "--kind", "greet", "--exec", "true",
                                "--metrics-file", store_.folder() / "no" / "one.prom"});
  EXPECT_EQ(refused.ending.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("metrics file"));
}

TEST_F(CliWorker, TheConfigurationNamesStoreAndSettings) {
  const std::string path = store_.folder() / "work.yaml";
  std::ofstream{path} << "store: " << store_.address() << "?durability=crash-safe\n";
  const Finished added = run({HOLDFAST_PROGRAM, "--config", path, "task", "add", "mail"});
  EXPECT_TRUE(added.ending.ok()) << added.err;
  EXPECT_THAT(ok({"queue", "status"}), HasSubstr("1"));
  const Finished status = run({HOLDFAST_PROGRAM, "queue", "status", "--json"},
                              {{"HOLDFAST_STORE", store_.address() + "?durability=crash-safe"}});
  EXPECT_THAT(status.out, HasSubstr(R"("durability":"crash-safe")"));
}

/// What ends the process is found on its board, whichever command runs the handlers.
TEST_F(CliWorker, EveryCommandThatRunsHandlersRecordsWhatCrashesIt) {
  const std::string rows = store_.folder() / "rows.jsonl";
  std::ofstream{rows} << "{}\n";
  add({"greet"});
  ok({"http", "get", "http://127.0.0.1:1/"});
  ok({"batch", "submit", rows, "--app", "shop", "--op", "price"});
  const std::vector<std::vector<std::string>> commands{
      {"worker", "run", "--kind", "greet", "--exec", "true"},
      {"http", "run"},
      {"batch", "run", "--app", "shop", "--op", "price", "--exec", "cat"}};
  for (const auto& command : commands) {
    auto crashed = start(command, {{"HOLDFAST_CRASH_AT", "handler_before_start"}});
    EXPECT_EQ(crashed.wait().value_or(Ending{}).signal, SIGILL) << command[0] << crashed.err();
    const auto report = json({command[0] == "batch" ? "batch" : "queue", "recover"}).at(0);
    const auto& dead = report.at("dead_workers").as_array();
    ASSERT_THAT(dead, SizeIs(1)) << command[0];
    EXPECT_THAT(std::string{dead[0].at("evidence").as_string()}, HasSubstr("signal 4"));
  }
}

}  // namespace
}  // namespace holdfast::test
