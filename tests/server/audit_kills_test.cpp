#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <boost/json/parse.hpp>

#include "server/serving.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

/// Kills `holdfast serve` where it makes something of the audit log durable.
class AuditKills : public Serve {
 protected:
  std::string log() const { return folder() / "audit.jsonl"; }
  std::filesystem::path folder() const { return store_.database() + ".holdfast/server"; }
  std::string content() const {
    std::ifstream file{log()};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  void pause_queue(const Running& running) {
    call(running.port, "POST", "/v1/queues/q/pause", "{}",
         {{"Authorization", "Bearer " + running.token}});
  }
  void break_log() {
    auto running = start();
    pause_queue(running);
    running.process.kill();
    auto text = content();
    text.replace(text.find("/v1/queues/q"), 12, "/v1/queues/x");
    std::ofstream{log()} << text;
    broken_ = text;
  }
  void die_at(const std::string& point) {
    Process process{command({}), {{"HOLDFAST_KILL_AT", point}}};
    const auto ending = process.wait();
    ASSERT_TRUE(ending) << "hangs";
    ASSERT_EQ(ending->signal, SIGKILL) << point << " was not reached\n" << process.err();
  }
  std::vector<std::filesystem::path> sealed() const {
    std::vector<std::filesystem::path> found;
    for (const auto& each : std::filesystem::directory_iterator{folder()})
      if (each.path().filename().string().starts_with("audit-BROKEN-")) found.push_back(each);
    return found;
  }
  void expect_sealed_once() {
    auto running = start();
    ASSERT_EQ(sealed().size(), 1u);
    std::ifstream file{sealed()[0]};
    EXPECT_EQ((std::string{std::istreambuf_iterator<char>{file}, {}}), broken_);
    const auto audit = get(running, "/v1/audit").json();
    EXPECT_EQ(audit.at("findings").as_array().size(), 1u);
    const auto& entries = audit.at("entries").as_array();
    ASSERT_EQ(entries.size(), 1u);
    EXPECT_THAT(std::string{entries[0].at("details").as_string()},
                HasSubstr(sealed()[0].filename().string()));
    EXPECT_FALSE(std::filesystem::exists(log() + ".sealing"));
    pause_queue(running);
    running.process.kill();
    auto again = start();
    EXPECT_EQ(get(again, "/v1/audit").json().at("entries").as_array().size(), 2u);
    EXPECT_EQ(sealed().size(), 1u);
  }

  std::string broken_;
};

TEST_F(AuditKills, ABrokenLogDoesNotKeepTheServerFromStarting) {
  break_log();
  auto running = start();
  EXPECT_THAT(running.process.err(), HasSubstr("is broken at line 1"));
  EXPECT_THAT(get(running, "/v1/health").body, HasSubstr("audit-BROKEN-"));
  const auto doctor = test::run({HOLDFAST_PROGRAM, "--store", store_.address(), "doctor"});
  EXPECT_THAT(doctor.out, HasSubstr("audit-BROKEN-"));
  running.process.kill();
  expect_sealed_once();
}

TEST_F(AuditKills, DyingWhileALogIsSealedEndsInOneSealedLog) {
  for (const auto* point : {"audit_before_rename", "audit_after_rename", "audit_after_new_chain"}) {
    SCOPED_TRACE(point);
    if (std::filesystem::exists(folder())) std::filesystem::remove_all(folder());
    break_log();
    ASSERT_NO_FATAL_FAILURE(die_at(point));
    ASSERT_NO_FATAL_FAILURE(die_at(point));  // and again while it is finished
    expect_sealed_once();
  }
}

TEST_F(AuditKills, DyingBetweenALineAndItsHeadIsNoFinding) {
  Process process{command({}), {{"HOLDFAST_KILL_AT", "audit_before_head"}}};
  ASSERT_TRUE(eventually([&] { return process.out().find('\n') != std::string::npos; },
                         std::chrono::seconds{60}));
  const auto told = boost::json::parse(process.out());
  const std::string url{told.at("url").as_string()};
  std::string token;
  std::ifstream{std::string{told.at("token_file").as_string()}} >> token;
  Wire wire{std::stoi(url.substr(url.rfind(':') + 1))};
  wire.send(request_text("POST", "/v1/queues/q/pause", "{}",
                         {{"Host", "127.0.0.1"},
                          {"Content-Type", "application/json"},
                          {"Authorization", "Bearer " + token}}));
  const auto ending = process.wait();
  ASSERT_TRUE(ending);
  ASSERT_EQ(ending->signal, SIGKILL);
  auto running = start();
  const auto audit = get(running, "/v1/audit").json();
  EXPECT_TRUE(audit.at("findings").as_array().empty());
  const auto& entries = audit.at("entries").as_array();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].at("outcome"), "asked");
}

TEST_F(AuditKills, RemovedLinesAreNoticed) {
  auto running = start();
  pause_queue(running);
  pause_queue(running);
  running.process.kill();
  const auto text = content();
  std::filesystem::resize_file(log(), text.rfind('\n', text.size() - 2) + 1);
  const auto doctor = test::run({HOLDFAST_PROGRAM, "--store", store_.address(), "doctor"});
  EXPECT_THAT(doctor.out, HasSubstr("1 line was removed from the end"));
  auto again = start();
  EXPECT_THAT(again.process.err(), HasSubstr("1 line was removed from the end"));
}

}  // namespace
}  // namespace holdfast::test
