#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include <fmt/format.h>

#include <holdfast/holdfast.hpp>

#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class ExecWorker : public testing::Test {
 protected:
  ExecWorker() : engine_{open(store_.address())} {}

  /// Writes a shell script, and returns a worker that has it as its handler.
  Process worker_with(const std::string& script) const {
    auto path = (store_.folder() / "handler.sh").string();
    std::ofstream{path} << "cd '" << store_.folder().string() << "'\n" << script;
    return Process{{HOLDFAST_PROGRAM, "--store", store_.address(), "worker", "run", "--kind",
                    "resize", "--concurrency", "1", "--", "/bin/sh", path}};
  }
  TaskRecord task_in(TaskId id, TaskState state) const {
    Inspector inspector{engine_};
    EXPECT_TRUE(eventually([&] { return inspector.task(id)->state == state; }))
        << inspector.explain(id);
    return *inspector.task(id);
  }
  bool appeared(const std::string& file) const {
    return eventually([&] { return std::filesystem::exists(store_.folder() / file); });
  }

  TempStore store_;
  Engine engine_;
};

TEST_F(ExecWorker, HandsOverThePayloadAndKeepsTheResult) {
  auto id = Tasks{engine_}.enqueue("resize", std::string{"cat.png"});
  auto worker = worker_with("echo resizing; cat\n");
  auto task = task_in(id, TaskState::completed);
  EXPECT_EQ(task.result, "\"cat.png\"");
  EXPECT_TRUE(eventually([&] { return Inspector{engine_}.logs(id).size() == 2; }));
}

TEST_F(ExecWorker, ExitCodeDecidesAndTheReasonIsKept) {
  auto id = Tasks{engine_}.enqueue("resize", 1);
  auto worker = worker_with("echo 'not a picture' >&2; exit 65\n");
  EXPECT_THAT(task_in(id, TaskState::failed).error, HasSubstr("not a picture"));
}

TEST_F(ExecWorker, CancelledTaskEndsItsProgram) {
  auto id = Tasks{engine_}.enqueue("resize", 1);
  auto worker = worker_with("touch started; exec sleep 1000\n");
  ASSERT_TRUE(appeared("started"));
  EXPECT_EQ(Inspector{engine_}.cancel({.ids = {id}}), 1);
  EXPECT_THAT(task_in(id, TaskState::cancelled).error, HasSubstr("signal 15"));
}

TEST_F(ExecWorker, WhatAProgramStartedDiesWithTheWorkerToo) {
  auto worker = worker_with(
      "sh -c 'touch started; exec 9>&-; trap \"\" TERM; while :; do touch alive; sleep 0.02; "
      "done'\n"
      "true\n");
  Tasks{engine_}.enqueue("resize", 1);
  ASSERT_TRUE(appeared("started"));
  worker.kill();
  // Nobody is there who would recover its task and end what was left.
  const auto alive = store_.folder() / "alive";
  EXPECT_TRUE(eventually([&] {
    std::filesystem::remove(alive);
    return !eventually([&] { return std::filesystem::exists(alive); },
                       std::chrono::milliseconds{500});
  }));
}

TEST_F(ExecWorker, RecoveredTaskNeverRunsBesideWhatItsDeadWorkerLeft) {
  // The first attempt leaves a process behind that no death signal reaches; the second one looks
  // whether it is still there (a dead one that nobody has collected yet is not).
  const char* script = R"(
if [ ! -e started ]; then
  sleep 1000 &
  echo $! > pid
  touch started
  wait
fi
case $(grep State: /proc/$(cat pid)/status) in
  '' | *Z*) echo '"alone"' ;;
  *) echo '"beside"' ;;
esac
)";
  auto id = Tasks{engine_}.enqueue("resize", 1);
  auto first = worker_with(script);
  ASSERT_TRUE(appeared("started"));
  auto second = worker_with(script);
  ASSERT_TRUE(eventually([&] { return Inspector{engine_}.workers().size() == 2; }));
  first.kill();
  auto task = task_in(id, TaskState::completed);
  EXPECT_EQ(task.result, "\"alone\"");
  EXPECT_EQ(task.recoveries, 1);
}

/// As a user without privileges, because root may look into everything.
TEST_F(ExecWorker, ProgramsOfTheSameUserFindNothingInItsMemoryAndMayDumpTheirOwn) {
  constexpr auto* unprivileged = "65534";
  TempStore own;
  std::vector<std::string> worker{"/usr/bin/prlimit", "--core=4096"};
  if (::geteuid() == 0) {
    worker.insert(worker.end(), {"/usr/bin/setpriv", "--reuid", unprivileged, "--regid",
                                 unprivileged, "--clear-groups"});
    ASSERT_EQ(::chown(own.folder().c_str(), 65534, 65534), 0);
  }
  worker.push_back(HOLDFAST_PROGRAM);
  const Environment variables{{"HOLDFAST_STORE", own.address()}, {"PGPASSWORD", "s3cret"}};
  auto as_user = [&](std::vector<std::string> words) {
    words.insert(words.begin(), worker.begin(), worker.end());
    return run(words, variables);
  };
  ASSERT_TRUE(as_user({"task", "add", "peek"}).ending.ok());
  auto ran = as_user({"worker", "run", "--kind", "peek", "--until-empty", "--exec",
                      "cat /proc/$PPID/environ; head -c 1 /proc/$PPID/mem; ls /proc/$PPID/fd; env;"
                      " grep core /proc/self/limits; grep core /proc/$PPID/limits; exit 65"});
  EXPECT_TRUE(ran.ending.ok()) << ran.err;
  auto shown = as_user({"task", "list", "--state", "failed", "--json"});
  auto id = shown.out.substr(shown.out.find("\"id\":\"") + 6, 26);
  auto logs = as_user({"task", "logs", id}).out;
  EXPECT_THAT(logs, Not(HasSubstr("s3cret")));
  EXPECT_THAT(logs, Not(HasSubstr("HOLDFAST_STORE")));
  for (const auto* kept : {"environ: Permission denied", "mem' for reading: Permission denied",
                           "fd': Permission denied"})
    EXPECT_THAT(logs, HasSubstr(kept));
  EXPECT_THAT(logs, ContainsRegex("core file size +4096 +4096")) << "its own";
  EXPECT_THAT(logs, ContainsRegex("core file size +0 +4096")) << "the worker's";
}

TEST_F(ExecWorker, PasswordsOnItsCommandLineAreHiddenAndHandedOver) {
  auto id = Tasks{engine_}.enqueue("resize", 1);
  auto worker = run({HOLDFAST_PROGRAM, "--store", store_.address(), "worker", "run", "--kind",
                     "resize", "--until-empty", "--", "/bin/sh", "-c",
                     "tr '\\0' ' ' </proc/$PPID/cmdline; echo; echo got $1; echo got $2", "x",
                     "redis://ada:s3c@ret@host:1/2?prefix=y", "host=db password=s3cret dbname=x"});
  ASSERT_TRUE(worker.ending.ok()) << worker.err;
  auto logs = Inspector{engine_}.logs(id);
  ASSERT_EQ(logs.size(), 3u);
  EXPECT_THAT(logs[0].text, HasSubstr("redis://ada:*******@host:1/2?prefix=y"));
  EXPECT_THAT(logs[0].text, HasSubstr("host=db password=****** dbname=x"));
  EXPECT_EQ(logs[1].text, "got redis://ada:s3c@ret@host:1/2?prefix=y");
  EXPECT_EQ(logs[2].text, "got host=db password=s3cret dbname=x");
}

}  // namespace
}  // namespace holdfast::test
