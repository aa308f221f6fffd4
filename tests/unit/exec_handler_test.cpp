#include "exec/exec_handler.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <boost/json/parse.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "exec/descriptor.hpp"
#include "support/fake_attempt.hpp"
#include "support/temp_store.hpp"

namespace holdfast {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using namespace std::chrono_literals;

Outcome run_words(FakeAttempt& attempt, std::vector<std::string> words) {
  return exec_handler({.command = std::move(words)})(attempt);
}
Outcome run(FakeAttempt& attempt, std::string line, std::chrono::milliseconds grace = 5s) {
  return exec_handler({.command = {std::move(line)}, .stop_grace = grace})(attempt);
}
Outcome run(std::string line) {
  FakeAttempt attempt;
  return run(attempt, std::move(line));
}

std::string retry_reason(const Outcome& outcome) {
  EXPECT_TRUE(std::holds_alternative<Retry>(outcome)) << "variant " << outcome.index();
  auto* retry = std::get_if<Retry>(&outcome);
  return retry ? retry->reason : "";
}
std::string fail_reason(const Outcome& outcome) {
  EXPECT_TRUE(std::holds_alternative<Fail>(outcome)) << "variant " << outcome.index();
  auto* fail = std::get_if<Fail>(&outcome);
  return fail ? fail->reason : "";
}
boost::json::value result(const Outcome& outcome) {
  EXPECT_TRUE(std::holds_alternative<Done>(outcome)) << "variant " << outcome.index();
  auto* done = std::get_if<Done>(&outcome);
  if (!done) return "not done";
  return done->text.empty() ? boost::json::value{} : boost::json::parse(done->text);
}

std::ptrdiff_t open_descriptors() {
  std::filesystem::directory_iterator all{"/proc/self/fd"};
  return std::distance(begin(all), end(all));
}

TEST(ExecHandler, ExitZeroIsDone) { EXPECT_TRUE(result(run("exit 0")).is_null()); }

TEST(ExecHandler, ExitCodesDecide) {
  EXPECT_THAT(retry_reason(run("exit 75")), HasSubstr("code 75"));
  EXPECT_THAT(retry_reason(run("exit 1")), HasSubstr("code 1"));
  EXPECT_THAT(retry_reason(run("exit 127")), HasSubstr("code 127"));
  EXPECT_THAT(fail_reason(run("exit 65")), HasSubstr("code 65"));
}

TEST(ExecHandler, ASignalIsAFailureThatNamesIt) {
  EXPECT_EQ(retry_reason(run("kill -SEGV $$")),
            "the program was ended by signal 11 (Segmentation fault)");
  // 65 is an exit code; a signal's number must not be taken for one.
  EXPECT_THAT(retry_reason(run("kill -9 $$")), HasSubstr("signal 9 (Killed)"));
}

TEST(ExecHandler, TheReasonEndsWithTheLastErrors) {
  EXPECT_EQ(retry_reason(run("echo chatter; echo 'no route to host' >&2; exit 7")),
            "the program exited with code 7:\nno route to host");
  EXPECT_THAT(fail_reason(run("echo 'bad row' >&2; exit 65")), HasSubstr(":\nbad row"));
}

TEST(ExecHandler, TheLastLineIsTheResultIfItIsJson) {
  EXPECT_EQ(result(run("echo working; echo '{\"rows\": 3}'")), boost::json::parse(R"({"rows":3})"));
  EXPECT_TRUE(result(run("echo '{\"rows\": 3}'; echo bye")).is_null());
}

TEST(ExecHandler, WhatTheProgramSaysIsLogged) {
  FakeAttempt attempt;
  run(attempt, "echo one; echo two; printf 'no newline'");
  EXPECT_THAT(attempt.logged, ElementsAre("one", "two", "no newline"));
  FakeAttempt complaining;
  run(complaining, "echo oops >&2");
  EXPECT_THAT(complaining.logged, ElementsAre("oops"));
}

TEST(ExecHandler, ThePayloadIsItsStandardInput) {
  auto payload = R"({"text":")" + std::string(900'000, 'x') + "\"}";
  FakeAttempt attempt{payload};
  EXPECT_EQ(result(run(attempt, "cat")), boost::json::parse(payload));
}

TEST(ExecHandler, AProgramThatDoesNotReadALargePayloadIsFine) {
  FakeAttempt ignored{std::string(3'000'000, 'x')};
  EXPECT_TRUE(result(run(ignored, "exit 0")).is_null());
  FakeAttempt closed{std::string(3'000'000, 'x')};
  EXPECT_EQ(result(run(closed, "exec 0<&-; echo 1")), boost::json::value(1));
}

TEST(ExecHandler, LargeOutputDoesNotBlockIt) {
  FakeAttempt attempt;
  EXPECT_EQ(result(run(attempt,
                       "head -c 3000000 /dev/zero | tr '\\0' x; echo; "
                       "head -c 3000000 /dev/zero | tr '\\0' y >&2; echo 5")),
            boost::json::value(5));
}

TEST(ExecHandler, SeveralWordsAreRunWithoutAShell) {
  FakeAttempt attempt;
  run_words(attempt, {"printf", "%s\\n", "$HOME; two words"});
  EXPECT_THAT(attempt.logged, ElementsAre("$HOME; two words"));
}

TEST(ExecHandler, TheResultIsKeptAsItIs) {
  auto outcome = run("echo '{\"big\": 12345678901234567890123, \"huge\": 1e400}'");
  const auto* done = std::get_if<Done>(&outcome);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->text, R"({"big": 12345678901234567890123, "huge": 1e400})");
}

TEST(ExecHandler, TheEnvironmentNamesTheAttempt) {
  ::setenv("HOLDFAST_TOKEN", "of somebody else", 1);
  ::setenv("EXEC_TEST", "inherited", 1);
  FakeAttempt attempt;
  run_words(attempt, {"env", "--"});
  ::unsetenv("HOLDFAST_TOKEN");
  ::unsetenv("EXEC_TEST");
  EXPECT_THAT(
      attempt.logged,
      AllOf(IsSupersetOf({"HOLDFAST_TASK_ID=" + attempt.task().text(),
                          std::string{"HOLDFAST_KIND=resize"}, std::string{"HOLDFAST_ATTEMPT=2"},
                          std::string{"HOLDFAST_TOKEN=4711"},
                          "HOLDFAST_IDEMPOTENCY_KEY=" + attempt.idempotency_key(),
                          std::string{"EXEC_TEST=inherited"}}),
            Not(Contains("HOLDFAST_TOKEN=of somebody else"))));
}

/// Sets variables of this process as long as it lives.
class Variables {
 public:
  explicit Variables(std::vector<std::string> names) : names_{std::move(names)} {
    for (const auto& name : names_) ::setenv(name.c_str(), "s3cret", 1);
  }
  ~Variables() {
    for (const auto& name : names_) ::unsetenv(name.c_str());
  }

 private:
  std::vector<std::string> names_;
};

TEST(ExecHandler, ProgramsDoNotInheritWhatHoldfastTakesSecretsFrom) {
  const Variables secrets{
      {"HOLDFAST_STORE", "HOLDFAST_LEDGER", "HOLDFAST_WHATEVER_COMES", "PGPASSWORD", "PGPASSFILE",
       "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN",
       "OTEL_EXPORTER_OTLP_HEADERS", "NOTIFY_SOCKET", "WORKER", "CREDENTIALS_DIRECTORY"}};
  const Variables plain{{"EXEC_TEST"}};
  FakeAttempt attempt;
  run(attempt, "env");
  std::string of_ours;
  for (const auto& line : attempt.logged)
    if (line.ends_with("=s3cret")) of_ours += line + "\n";
  EXPECT_EQ(of_ours, "EXEC_TEST=s3cret\n");
}

TEST(ExecHandler, ProgramsGetWhatTheyAreToGetByName) {
  const Variables secrets{{"HOLDFAST_STORE", "PGPASSWORD", "HOLDFAST_TOKEN"}};
  FakeAttempt attempt;
  exec_handler({.command = {"env"}, .pass_environment = {"PGPASSWORD", "HOLDFAST_TOKEN"}})(attempt);
  EXPECT_THAT(attempt.logged, IsSupersetOf({"PGPASSWORD=s3cret", "HOLDFAST_TOKEN=4711"}));
  EXPECT_THAT(attempt.logged, Not(Contains("HOLDFAST_STORE=s3cret")));
  EXPECT_THAT(attempt.logged, Not(Contains("HOLDFAST_TOKEN=s3cret")));
}

std::string refusal(ExecOptions options) {
  try {
    exec_handler(std::move(options));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(ExecHandler, AProgramThatIsNotThereIsRefusedBeforeAnyTaskIsTaken) {
  EXPECT_EQ(refusal({.command = {"holdfast-no-such-program", "x"}}),
            "cannot run holdfast-no-such-program: there is no such program in PATH");
  EXPECT_EQ(refusal({.command = {"/no/such/program", "x"}}),
            "cannot run /no/such/program: No such file or directory");
  EXPECT_EQ(refusal({.command = {"/etc/passwd", "x"}}),
            "cannot run /etc/passwd: Permission denied");
  EXPECT_EQ(refusal({.command = {"/etc"}, .not_a_line = true}), "cannot run /etc: it is a folder");
  EXPECT_EQ(refusal({.command = {"holdfast-no-such-program --fast | cat"}}),
            "cannot run holdfast-no-such-program: the shell knows no such command");
}

TEST(ExecHandler, LinesThatTheShellUnderstandsAreNotRefused) {
  for (const char* line : {"cat", "cd / && ls", "if true; then echo; fi", "NAME=x env", "(echo)",
                           "'cat'", "$PROGRAM --help", "! true", ""})
    EXPECT_EQ(refusal({.command = {line}}), "") << line;
}

TEST(ExecHandler, AProgramThatIsGoneLaterIsTriedAgain) {
  test::TempStore store;
  auto program = store.folder() / "program";
  std::filesystem::copy_file("/bin/true", program);
  auto handler = exec_handler({.command = {program, "x"}});
  std::filesystem::remove(program);
  FakeAttempt attempt;
  EXPECT_THROW(handler(attempt), CannotBegin);
}

TEST(ExecHandler, ALineWhoseProgramIsGoneOrCannotRunIsTriedAgain) {
  test::TempStore store;
  const std::string gone = store.folder() / "gone", script = store.folder() / "script";
  std::ofstream{script} << "#!/no/such/interpreter -x\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  for (const auto& program : {gone, script})
    for (const char* line :
         {"exec {} --fast", "NAME=x {}", "cd / && {} x", "true; {}", "({})", "echo 1 | {}",
          "env NAME=x nice -n 1 {} x", "if true; then {}; fi", "exec timeout 5 {}"}) {
      FakeAttempt attempt;
      auto handler = exec_handler({.command = {fmt::format(fmt::runtime(line), program)}});
      EXPECT_THROW(handler(attempt), CannotBegin) << line << " with " << program;
    }
}

TEST(ExecHandler, AProgramThatSaysThatItLacksSomethingHasBegun) {
  for (const char* line : {"exit 127", "sh -c 'exit 127'", "exec sh -c 'exit 126'",
                           "$HOLDFAST_NO_SUCH_PROGRAM; sh -c 'exit 127'"}) {
    FakeAttempt attempt;
    EXPECT_THAT(retry_reason(run(attempt, line)), HasSubstr("code 12")) << line;
  }
}

TEST(ExecHandler, AskedToStopItEndsTheProgramWithSigterm) {
  FakeAttempt attempt;
  attempt.on_log = [&](std::string_view) { attempt.stop.request_stop(); };
  auto reason = retry_reason(run(attempt, "echo ready; exec sleep 1000"));
  EXPECT_THAT(reason, HasSubstr("signal 15 (Terminated) after it was asked to stop"));
}

TEST(ExecHandler, AProgramThatStopsCleanlyWhenAskedIsDone) {
  FakeAttempt attempt;
  attempt.on_log = [&](std::string_view) { attempt.stop.request_stop(); };
  auto outcome = run(attempt, "trap 'echo 8; exit 0' TERM; echo ready; sleep 1000 & wait");
  EXPECT_EQ(result(outcome), boost::json::value(8));
}

TEST(ExecHandler, AProgramThatIgnoresSigtermIsKilledAfterItsGrace) {
  FakeAttempt attempt;
  attempt.on_log = [&](std::string_view) { attempt.stop.request_stop(); };
  auto start = std::chrono::steady_clock::now();
  auto reason = retry_reason(
      run(attempt, "trap '' TERM; echo ready; while true; do sleep 1000; done", 300ms));
  auto took = std::chrono::steady_clock::now() - start;
  EXPECT_THAT(reason, HasSubstr("signal 9 (Killed) after it was asked to stop"));
  EXPECT_GE(took, 300ms);
  EXPECT_LT(took, 5s);
}

TEST(ExecHandler, AStopFromAnotherThreadIsHeardByAQuietProgram) {
  Descriptor lock{::memfd_create("lock", MFD_CLOEXEC)};
  FakeAttempt attempt;
  attempt.lock = lock.get();
  std::jthread stopper{[&] {  // the program's first act is to write into its lock
    auto deadline = std::chrono::steady_clock::now() + 10s;
    while (::lseek(lock.get(), 0, SEEK_END) == 0 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    attempt.stop.request_stop();
  }};
  EXPECT_THAT(retry_reason(run(attempt, "exec sleep 1000")), HasSubstr("signal 15"));
}

TEST(ExecHandler, NothingIsStartedOnceStopWasRequested) {
  FakeAttempt attempt;
  attempt.stop.request_stop();
  EXPECT_THAT(retry_reason(run(attempt, "echo started")), HasSubstr("before"));
  EXPECT_TRUE(attempt.logged.empty());
}

TEST(ExecHandler, NoCommandIsAConfigurationError) { EXPECT_THROW(exec_handler({}), ConfigError); }

/// Processes that this one has started.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
    std::ifstream status{entry.path() / "status"};
    for (std::string line; std::getline(status, line);)
      if (line == "PPid:\t" + std::to_string(::getpid()))
        found.push_back(std::stoi(entry.path().filename()));
  }
  return found;
}

TEST(ExecHandler, AGuardThatWasKilledHarmsNobody) {
  auto handler = exec_handler({.command = {"echo 1"}});
  auto guard = children();
  ASSERT_EQ(guard.size(), 1u);
  ::kill(guard.front(), SIGKILL);
  siginfo_t gone{};
  ::waitid(P_PID, static_cast<id_t>(guard.front()), &gone, WEXITED | WNOWAIT);
  FakeAttempt attempt;
  EXPECT_EQ(result(handler(attempt)), boost::json::value(1));
}

/// A file at the number under which a program that is being started finds other things.
class FileAtNumberFour {
 public:
  FileAtNumberFour() : before_{::fcntl(number, F_DUPFD_CLOEXEC, out_of_the_way)} {
    Descriptor made{::memfd_create("ours", MFD_CLOEXEC)};
    const Descriptor file{::fcntl(made.get(), F_DUPFD_CLOEXEC, out_of_the_way)};
    made.close();  // its number may be the one that we want
    if (::write(file.get(), "ours", 4) != 4 || ::dup2(file.get(), number) < 0) ::abort();
  }
  ~FileAtNumberFour() { before_ ? ::dup2(before_.get(), number) : ::close(number); }
  std::string content() const {
    char text[64];
    const auto length = ::pread(number, text, sizeof text, 0);
    return {text, static_cast<std::size_t>(length)};
  }

 private:
  static constexpr int number = 4, out_of_the_way = 10;
  Descriptor before_;
};

#ifndef __SANITIZE_ADDRESS__  // which itself needs descriptors, to look at memory through a pipe
TEST(ExecHandler, WhereDescriptorsRunOutNothingIsChargedAndNoOtherFileIsWrittenTo) {
  const FileAtNumberFour ours;
  const auto handler = exec_handler({.command = {"true"}});
  const Descriptor highest{::dup(STDIN_FILENO)};
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  int done = 0, not_begun = 0;
  for (int more = 0; more < 40; ++more) {
    FakeAttempt attempt;
    rlimit few{static_cast<rlim_t>(highest.get() + more), before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
    std::optional<Outcome> outcome;
    try {
      outcome = handler(attempt);
    } catch (const CannotBegin&) {
    }
    ::setrlimit(RLIMIT_NOFILE, &before);
    ++(outcome ? done : not_begun);
    if (outcome) {
      EXPECT_TRUE(std::holds_alternative<Done>(*outcome)) << more;
    }
    EXPECT_EQ(ours.content(), "ours") << more;
  }
  EXPECT_GT(not_begun, 3);
  EXPECT_GT(done, 3);
  EXPECT_EQ(children().size(), 1U) << "the guard";
}
#endif

TEST(ExecHandler, NoDescriptorIsLeft) {
  FakeAttempt attempt;
  run(attempt, "exit 0");
  test::TempStore store;
  const std::string without_interpreter = store.folder() / "script";
  std::ofstream{without_interpreter} << "#!/no/such/interpreter\n";
  std::filesystem::permissions(without_interpreter, std::filesystem::perms::owner_all);
  auto before = open_descriptors();
  for (int i = 0; i < 100; ++i) {
    if (i % 3 == 0) {
      EXPECT_THROW(run_words(attempt, {without_interpreter, "x"}), CannotBegin);
    }
    if (i % 3 == 1) run_words(attempt, {"true", "--"});
    if (i % 3 == 2) run(attempt, "sleep 1000 & exit 1");
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(ExecHandler, AVariableToPassThatIsNotThereIsRefused) {
  EXPECT_THAT(refusal({.command = {"true"}, .pass_environment = {"EXEC_TEST_NOT_SET"}}),
              HasSubstr("EXEC_TEST_NOT_SET"));
  EXPECT_THAT(refusal({.command = {"true"}, .pass_environment = {"A=b"}}), HasSubstr("'A=b'"));
}

}  // namespace
}  // namespace holdfast
