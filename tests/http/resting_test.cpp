#include <boost/json/parse.hpp>

#include <fstream>

#include "http/program_scenario.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::eventually;
using test::HttpServer;
using test::ServedRequest;
using testing::HasSubstr;

/// A processor that was sent SIGTSTP while requests were in flight.
class RestingProcessor : public ProgramScenario {
 protected:
  static constexpr int held = 3;
  static constexpr Millis lease{4'000};

  void begin_to_rest() {
    config_ = (store_.folder() / "config.yaml").string();
    std::ofstream{config_} << "queue:\n  heartbeat:\n    intervalSeconds: 1\n"
                              "    staleThresholdMultiplier: 4\n    detectionIntervalSeconds: 1\n";
    enqueue(server_.url(), held);
    resting_.emplace(command(run_words({"--config", config_})));
    ASSERT_TRUE(eventually([&] { return server_.served() == held; }));
    resting_->signal(SIGTSTP);
    ASSERT_TRUE(eventually([&] { return shown().at("state") == "draining"; }))
        << resting_->err() << cli({"http", "stats"}).out;
  }
  /// What `http stats` says of it.
  boost::json::object shown() const {
    const auto stats = boost::json::parse(cli({"--json", "http", "stats"}).out);
    for (const auto& process : stats.at("processes").as_array())
      if (process.at("pid") == resting_->pid()) return process.as_object();
    return {{"state", "not shown"}, {"in_flight", -1}};
  }
  WorkerStatus worker() const {
    for (const auto& worker : inspector_.workers())
      if (worker.pid == resting_->pid()) return worker;
    return {};
  }
  std::int64_t completed() const {
    return inspector_.count({.states = {TaskState::completed}, .kind = request_kind});
  }

  HttpServer server_{[](const ServedRequest&) {
    auto reply = answer(200, "late");
    reply.waits = true;
    return reply;
  }};
  std::string config_;
  std::optional<test::Process> resting_;
};

TEST_F(RestingProcessor, IsShownAsDrainingUntilItIsToldToEnd) {
  begin_to_rest();
  EXPECT_EQ(shown().at("in_flight"), held);
  EXPECT_THAT(cli({"http", "stats"}).out, HasSubstr("is draining: 3 of 1000 in flight"));
  EXPECT_THAT(cli({"worker", "list"}).out, HasSubstr("draining"));
  const auto listed = boost::json::parse(cli({"--json", "worker", "list"}).out);
  EXPECT_EQ(listed.at("state"), "running");
  EXPECT_EQ(listed.at("draining"), true);
  enqueue(server_.url(), 1);
  const auto waits = inspector_.tasks({.states = {TaskState::pending}}).at(0).id;
  EXPECT_THAT(inspector_.explain(waits), HasSubstr("No running worker"));
  server_.release();
  ASSERT_TRUE(eventually([&] { return completed() == held; }));
  const auto then = worker().last_heartbeat;
  EXPECT_TRUE(eventually([&] { return worker().last_heartbeat > then; })) << "it stays";
  EXPECT_EQ(shown().at("state"), "draining");
  EXPECT_EQ(shown().at("in_flight"), 0);
  EXPECT_EQ(server_.served(), held) << "nothing more was taken";
  resting_->signal(SIGTSTP);
  resting_->signal(SIGTERM);
  const auto ending = resting_->wait();
  ASSERT_TRUE(ending);
  EXPECT_TRUE(ending->ok()) << resting_->err();
  EXPECT_EQ(worker().state, WorkerState::stopped);
  EXPECT_EQ(shown().at("state"), "not shown");
}

TEST_F(RestingProcessor, KeepsWhatItHoldsBesideAnotherOne) {
  begin_to_rest();
  test::Process other{command(run_words({"--config", config_}))};
  enqueue(server_.url(), 1);
  ASSERT_TRUE(eventually([&] { return server_.served() == held + 1; })) << "the other one has it";
  const auto then = worker().last_heartbeat;
  ASSERT_TRUE(eventually([&] { return worker().last_heartbeat > then + lease + Millis{1'000}; }));
  EXPECT_EQ(server_.served(), held + 1) << "nobody took over what it holds";
  server_.release();
  EXPECT_TRUE(eventually([&] { return completed() == held + 1; }));
  resting_->signal(SIGTERM);
  ASSERT_TRUE(resting_->wait());
  EXPECT_THAT(resting_->out(), HasSubstr("3 answered, 0 errors, 0 given back, 0 stale"));
}

TEST_F(RestingProcessor, ThatIsKilledIsTakenOver) {
  begin_to_rest();
  resting_->kill();
  server_.release();
  const auto second = cli(run_words({"--config", config_, "--until-empty"}));
  ASSERT_TRUE(second.ending.ok()) << second.err;
  EXPECT_EQ(server_.served(), 2 * held) << "each was in flight, so each was sent again";
  expect_each_told_once(held);
}

TEST_F(RestingProcessor, GivesBackWhatDoesNotEndOnceItIsToldTo) {
  begin_to_rest();
  resting_->signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return shown().at("state") == "stopping"; }));
  resting_->signal(SIGTERM);
  const auto ending = resting_->wait();
  ASSERT_TRUE(ending);
  EXPECT_TRUE(ending->ok());
  EXPECT_EQ(inspector_.count({.states = {TaskState::pending}, .kind = request_kind}), held);
}

}  // namespace
}  // namespace holdfast::http
