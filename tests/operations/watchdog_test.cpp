#include "cli/watchdog.hpp"

#include <stdlib.h>

#include <gmock/gmock.h>

#include "operations/notify_socket.hpp"
#include "support/temp_store.hpp"

namespace holdfast::cli {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;

class WatchdogTest : public testing::Test {
 protected:
  Systemd started_by_systemd() const {
    ::setenv("NOTIFY_SOCKET", socket_.path().c_str(), 1);
    ::setenv("WATCHDOG_USEC", "150000", 1);
    return Systemd{};
  }

  test::TempStore place_;
  test::NotifySocket socket_{place_.folder() / "notify"};
};

TEST_F(WatchdogTest, IsNotFedWhileThereIsNoAnswer) {
  std::function<void(Pulse)> answer;
  const Watchdog watchdog{started_by_systemd(), "all is well",
                          [&](std::function<void(Pulse)> given) { answer = std::move(given); }};
  EXPECT_THAT(socket_.until("STATUS=does not answer"), Each(Not(HasSubstr("WATCHDOG"))));
  answer({});
  socket_.until("WATCHDOG=1");
  socket_.until("STATUS=all is well");
}

TEST_F(WatchdogTest, IsNotFedByWhoIsNotWell) {
  std::atomic<bool> well = false;
  const Watchdog watchdog{started_by_systemd(), "all is well",
                          [&](const std::function<void(Pulse)>& answer) {
                            answer(well ? Pulse{true, "a\nremark"} : Pulse{false, "ill"});
                          }};
  EXPECT_THAT(socket_.until("STATUS=ill"), Each(Not(HasSubstr("WATCHDOG"))));
  well = true;
  EXPECT_THAT(socket_.until("WATCHDOG=1"), Each(Not(HasSubstr("STATUS"))));
  socket_.until("STATUS=a\\nremark");
}

TEST_F(WatchdogTest, AnswersThatComeTooLateHurtNobody) {
  std::function<void(Pulse)> answer;
  {
    std::atomic<bool> asked = false;
    const Watchdog watchdog{started_by_systemd(), "all is well",
                            [&](std::function<void(Pulse)> given) {
                              answer = std::move(given);
                              asked = true;
                              asked.notify_one();
                            }};
    asked.wait(false);
  }
  answer({});
}

TEST_F(WatchdogTest, AsksNobodyWhereNobodyWatches) {
  ::unsetenv("WATCHDOG_USEC");
  const Watchdog watchdog{Systemd{}, "", [](const auto&) { FAIL(); }};
  ::setenv("NOTIFY_SOCKET", "vsock:2:1234", 1);
  Systemd{}.ready("told to nobody");
  EXPECT_EQ(::getenv("NOTIFY_SOCKET"), nullptr);
}

}  // namespace
}  // namespace holdfast::cli
