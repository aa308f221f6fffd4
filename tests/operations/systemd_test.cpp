#include <signal.h>

#include <fstream>

#include "engines/sqlite/file_lock.hpp"
#include "operations/notify_socket.hpp"
#include "scenario/cli_scenario.hpp"

namespace holdfast::test {
namespace {

using std::chrono_literals::operator""ms;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

/// The program as systemd starts it, with a watchdog of a second and a half.
class AsService : public CliScenario {
 protected:
  AsService() { std::ofstream{config_} << "queue: {heartbeat: {intervalSeconds: 0.2}}\n"; }

  Process begin(const std::vector<std::string>& words, const Environment& more = {}) const {
    std::vector<std::string> command{HOLDFAST_PROGRAM, "--store", store_.address(), "--config",
                                     config_};
    command.insert(command.end(), words.begin(), words.end());
    Environment environment{{"NOTIFY_SOCKET", systemd_.path()}, {"WATCHDOG_USEC", "1500000"}};
    environment.insert(environment.end(), more.begin(), more.end());
    return Process{command, environment};
  }
  Process begin_worker() const {
    return begin({"worker", "run", "--kind", "env", "--exec", "env"});
  }

  void expect_silence_while_stopped(Process& process) {
    process.stop();
    while (systemd_.next(0ms)) continue;
    EXPECT_FALSE(systemd_.next(1'500ms));
    process.signal(SIGCONT);
    systemd_.until("WATCHDOG=1");
  }
  void expect_to_end_well(Process& process) {
    process.signal(SIGTERM);
    systemd_.until("STOPPING=1");
    const auto ending = process.wait();
    ASSERT_TRUE(ending);
    EXPECT_TRUE(ending->ok()) << process.err();
  }

  std::string config_ = (store_.folder() / "holdfast.yaml").string();
  NotifySocket systemd_{store_.folder() / "notify"};
};

TEST_F(AsService, AWorkerIsReadyWhenItHasBegunAndFeedsTheWatchdogUntilItEnds) {
  auto worker = begin_worker();
  const auto ready = systemd_.until("READY=1");
  EXPECT_EQ(ready.size(), 1U);
  EXPECT_THAT(ready.back(), HasSubstr("STATUS=working on " + store_.address()));
  EXPECT_EQ(json({"worker", "list"}).size(), 1U);
  for (int i = 0; i < 4; ++i) systemd_.until("WATCHDOG=1");
  expect_silence_while_stopped(worker);
  expect_to_end_well(worker);
}

TEST_F(AsService, AWorkerWhoseHeartHangsFeedsNoMore) {
  auto worker = begin_worker();
  systemd_.until("WATCHDOG=1");
  sqlite::FairLock lock{store_.database() + ".holdfast/write.lock"};
  lock.acquire();  // every write of the worker waits for this, its heartbeats too
  systemd_.until("STATUS=no heartbeat for ");
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(systemd_.until("STATUS=no heartbeat for "), Each(Not(HasSubstr("WATCHDOG"))));
  lock.release();
  systemd_.until("WATCHDOG=1");
  EXPECT_THAT(systemd_.until("STATUS=").back(), HasSubstr("working on"));
  expect_to_end_well(worker);
}

TEST_F(AsService, ProgramsOfAWorkerCannotSpeakForIt) {
  const auto id = add({"env"});
  auto worker = begin_worker();
  systemd_.until("READY=1");
  ASSERT_TRUE(eventually([&] { return state_of(id) == "completed"; }));
  const auto logs = ok({"task", "logs", id});
  EXPECT_THAT(logs, HasSubstr("HOLDFAST_TASK_ID"));
  EXPECT_THAT(logs, Not(HasSubstr("NOTIFY_SOCKET")));
  EXPECT_THAT(logs, Not(HasSubstr("WATCHDOG")));
}

TEST_F(AsService, AWatchdogThatIsForAnotherProcessIsNotFed) {
  auto worker = begin({"worker", "run", "--kind", "env", "--exec", "env"}, {{"WATCHDOG_PID", "1"}});
  systemd_.until("READY=1");
  EXPECT_FALSE(systemd_.next(1'500ms));
}

TEST_F(AsService, AServerIsReadyWhenItListensAndFeedsTheWatchdogUntilItEnds) {
  auto server = begin({"serve", "--listen", "127.0.0.1:0"});
  EXPECT_THAT(systemd_.until("READY=1").back(), HasSubstr("at http://127.0.0.1:"));
  for (int i = 0; i < 4; ++i) systemd_.until("WATCHDOG=1");
  expect_silence_while_stopped(server);
  expect_to_end_well(server);
}

TEST_F(AsService, OthersThatRunUntilTheyAreToldToEndAreReadyToo) {
  const std::string folder = "dir:" + (store_.folder() / "blobs").string();
  const std::vector<std::vector<std::string>> commands{
      {"http", "run"},
      {"batch", "run", "--app", "a", "--op", "o", "--exec", "cat"},
      {"results", "run", "--blobs", folder, "--request-queue", "q", "--notify-queue", "n"}};
  for (const auto& command : commands) {
    auto process = begin(command);
    systemd_.until("READY=1");
    systemd_.until("WATCHDOG=1");
    expect_to_end_well(process);
    while (systemd_.next(0ms)) continue;
  }
}

}  // namespace
}  // namespace holdfast::test
