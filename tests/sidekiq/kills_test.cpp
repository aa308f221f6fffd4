#include "recovery/kill_point.hpp"
#include "sidekiq/program_scenario.hpp"

namespace holdfast::sidekiq {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;

constexpr int count = 5;

/// Dies at one place on the way of a request, and another process goes on.
class SidekiqKillPoints : public SidekiqProgram,
                          public testing::WithParamInterface<std::string_view> {
 protected:
  void push_all() {
    for (int i = 0; i < count; ++i) push({.url = server_.url(), .id = std::to_string(i)});
  }
  HttpServer server_{[](const ServedRequest&) { return answer(200, "x"); }};
};

TEST_P(SidekiqKillPoints, DyingThereLosesNoRequestAndPushesEachCallbackOnce) {
  push_all();
  std::string point{GetParam()};
  // Nothing is recovered unless somebody died before.
  if (point.ends_with("_recover")) run_program("http_before_send");
  auto died = run_program(point);
  ASSERT_EQ(died.ending.signal, SIGKILL) << point << " was not reached\n" << died.err;
  auto finished = run_program();
  ASSERT_TRUE(finished.ending.ok()) << finished.err;
  expect_each_told_once(count);
  EXPECT_LE(server_.served(), 2 * count);
}

std::vector<std::string_view> points() {
  std::vector<std::string_view> points{"http_before_send", "http_after_answer"};
  for (auto name : kill_point_names)
    if (name.starts_with("http_sidekiq") && !name.ends_with("_sending")) points.push_back(name);
  return points;
}

INSTANTIATE_TEST_SUITE_P(Every, SidekiqKillPoints, testing::ValuesIn(points()),
                         [](const auto& point) { return std::string{point.param}; });

/// The same with a request that must not be sent twice: before and after the note that it may have
/// been sent, and when it has been.
struct Sending {
  std::string_view point;
  int sent;   ///< by the one that dies
  bool dies;  ///< the job: nobody sends it again
};

class SidekiqKillPointsOfSending : public SidekiqProgram,
                                   public testing::WithParamInterface<Sending> {};

TEST_P(SidekiqKillPointsOfSending, WhatMayHaveBeenSentIsNotSentAgainAndTheRestIs) {
  auto [point, sent, dies] = GetParam();
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  push({.url = server.url(), .method = "post", .body = "x"});
  auto died = run_program(std::string{point}, {"--hold-ambiguous"});
  ASSERT_EQ(died.ending.signal, SIGKILL) << point << " was not reached\n" << died.err;
  EXPECT_EQ(server.served(), sent);
  auto finished = run_program({}, {"--hold-ambiguous"});
  ASSERT_TRUE(finished.ending.ok()) << finished.err;
  EXPECT_EQ(server.served(), dies ? sent : sent + 1);
  EXPECT_EQ(set("dead").size(), dies ? 1u : 0u);
  expect_each_told_once(dies ? 0 : 1);
}

INSTANTIATE_TEST_SUITE_P(Every, SidekiqKillPointsOfSending,
                         testing::Values(Sending{"http_sidekiq_before_sending", 0, false},
                                         Sending{"http_sidekiq_after_sending", 0, true},
                                         Sending{"http_before_send", 0, true},
                                         Sending{"http_after_answer", 1, true}),
                         [](const auto& point) { return std::string{point.param.point}; });

class SidekiqKills : public SidekiqProgram {};

TEST_F(SidekiqKills, OnlyWhatHadAPlaceAtItsHostMayHaveBeenSent) {
  constexpr int posts = 4;
  std::atomic<bool> silent = true;
  HttpServer server{[&](const ServedRequest&) {
    auto reply = answer(200);
    reply.never = silent;
    return reply;
  }};
  for (int i = 0; i < posts; ++i)
    push({.url = server.url(), .method = "post", .body = "x", .id = std::to_string(i)});
  test::Process first{run_command({"--per-host", "1", "--hold-ambiguous"})};
  ASSERT_TRUE(test::eventually([&] {
    return server.served() == 1 && number({"HLEN", key("holdfast:leases")}) == posts;
  }));
  first.kill();
  silent = false;
  auto second = run_program({}, {"--hold-ambiguous"});
  ASSERT_TRUE(second.ending.ok()) << second.err;
  EXPECT_EQ(server.served(), posts);
  auto dead = set("dead");
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_EQ(dead[0].at("args").at(4), "0");
  EXPECT_EQ(dead[0].at("error_class"), "Holdfast::NotSentAgain");
  expect_each_told_once(posts - 1);
}

TEST_F(SidekiqKills, WhatTheGemPerformedMeanwhileIsNotSentOnceItsRegistryHasExpired) {
  constexpr int many = 10;
  HttpServer server{[&](const ServedRequest&) {
    auto reply = answer(200);
    reply.never = true;
    return reply;
  }};
  for (int i = 0; i < many; ++i) push({.url = server.url(), .id = std::to_string(i)});
  test::Process first{run_command()};
  ASSERT_TRUE(test::eventually([&] { return server.served() == many; })) << first.err();
  first.kill();
  // The gem takes over what a dead process left, in one step for each, and performs it. An hour
  // later there is nothing to be seen of that.
  for (const auto& id : texts({"ZRANGE", key("inflight_index"), "0", "-1"})) {
    redis_.call({"ZREM", key("inflight_index"), id});
    redis_.call({"HDEL", key("inflight_jobs"), id});
  }
  redis_.call({"DEL", key("inflight_index")});
  redis_.call({"DEL", key("inflight_jobs")});
  auto second = run_program();
  ASSERT_TRUE(second.ending.ok()) << second.err;
  EXPECT_EQ(server.served(), many) << "none of them again";
  EXPECT_TRUE(queue().empty()) << "and none is delivered";
  const auto dead = set("dead");
  ASSERT_EQ(dead.size(), static_cast<std::size_t>(many));
  for (const auto& job : dead) {
    EXPECT_EQ(job.at("error_class"), "Holdfast::NotSentAgain");
    EXPECT_THAT(std::string{job.at("error_message").as_string()},
                testing::HasSubstr("may have been sent by a Ruby process"));
  }
  EXPECT_THAT(second.err, testing::HasSubstr("is not sent again"));
  expect_nothing_in_flight();
}

TEST_F(SidekiqKills, KilledInTheMiddleAnotherFinishesEveryOneSoon) {
  constexpr int many = 500;
  std::atomic<bool> slow = true;
  HttpServer server{[&](const ServedRequest&) {
    auto reply = answer(200, "x");
    if (slow) reply.after = std::chrono::minutes{5};
    return reply;
  }};
  for (int i = 0; i < many; ++i) push({.url = server.url(), .id = std::to_string(i)});
  test::Process first{run_command({"--capacity", "1000"})};
  ASSERT_TRUE(test::eventually([&] { return server.served() == many; }, std::chrono::seconds{60}))
      << first.err();
  slow = false;
  first.kill();
  // Without a word about thresholds: the server knows that the process is gone.
  auto second = test::run(run_command({"--capacity", "1000"}));
  ASSERT_TRUE(second.ending.ok()) << second.err;
  EXPECT_THAT(second.err, testing::ContainsRegex(
                              "\\[[0-9 .:-]+\\] \\[holdfast\\] \\[info\\] recovered request"));
  EXPECT_EQ(server.served(), 2 * many) << "each was in flight, so each was sent again";
  expect_each_told_once(many);
}

TEST_F(SidekiqKills, AProcessThatSleptTooLongDeliversNothingASecondTime) {
  std::atomic<int> asked = 0;
  HttpServer server{[&](const ServedRequest&) {
    auto reply = answer(200, "x");
    if (++asked == 1) reply.after = std::chrono::seconds{3};
    return reply;
  }};
  push({.url = server.url()});
  std::vector<std::string> quick{"--heartbeat-interval", "1s", "--orphan-threshold", "2s"};
  test::Process sleeper{run_command(quick)};
  // Not while it looks for orphans: then it has the lock for two minutes.
  ASSERT_TRUE(test::eventually([&] {
    return asked == 1 && number({"EXISTS", key("holdfast:last_look")}) == 1 &&
           number({"EXISTS", key("gc_lock")}) == 0;
  }));
  sleeper.stop();
  ASSERT_TRUE(test::eventually(
      [&] {
        test::run(run_command(quick));
        return asked == 2;
      },
      std::chrono::seconds{60}))
      << sleeper.err();
  sleeper.signal(SIGCONT);
  ASSERT_TRUE(sleeper.wait());
  EXPECT_THAT(sleeper.err(), testing::HasSubstr("another process has it"));
  expect_each_told_once(1);
}

/// A processor that was told to rest while requests were in flight.
class SidekiqRest : public SidekiqProgram {
 protected:
  static constexpr int held = 3;

  void begin_to_rest() {
    for (int i = 0; i < held; ++i) push({.url = server_.url(), .id = std::to_string(i)});
    resting_.emplace(lasting());
    ASSERT_TRUE(test::eventually([&] { return server_.served() == held; })) << resting_->err();
    ASSERT_TRUE(test::eventually([&] { return number({"SCARD", "processes"}) == 1; }));
    identity_ = texts({"SMEMBERS", "processes"}).at(0);
    EXPECT_EQ(redis_.call({"HGET", identity_, "quiet"}).text(), "false");
    resting_->signal(SIGTSTP);
    ASSERT_TRUE(test::eventually(
        [&] {
          return redis_.call({"HGET", identity_, "quiet"}).text() == "true";
        },
        std::chrono::seconds{60}));
  }
  std::vector<std::string> lasting() const {
    return {HOLDFAST_PROGRAM,
            "--store",
            address(),
            "http",
            "run",
            "--allow-private",
            "--heartbeat-interval",
            "1s",
            "--orphan-threshold",
            "5s"};
  }
  std::string stats() const {
    return test::run({HOLDFAST_PROGRAM, "--store", address(), "http", "stats"}).out;
  }
  /// When the one that was heard of longest ago was, in milliseconds.
  double heard_of() {
    return redis_.call({"ZRANGE", key("inflight_index"), "0", "0", "WITHSCORES"})[1].real();
  }

  HttpServer server_{[](const ServedRequest&) {
    auto reply = answer(200, "late");
    reply.waits = true;
    return reply;
  }};
  std::string identity_;
  std::optional<test::Process> resting_;
};

TEST_F(SidekiqRest, TakesNothingMoreAndEndsWhatIsInFlight) {
  begin_to_rest();
  EXPECT_TRUE(test::eventually(
      [&] { return stats().find("is draining: 3 of 256 in flight") != std::string::npos; },
      std::chrono::seconds{60}))
      << stats();
  push({.url = server_.url(), .id = "too late"});
  server_.release();
  ASSERT_TRUE(test::eventually([&] { return queue().size() == held + 1; })) << "and the callbacks";
  EXPECT_EQ(server_.served(), held);
  EXPECT_TRUE(resting_->running()) << "it stays";
  resting_->signal(SIGTERM);
  EXPECT_TRUE(resting_->wait()->ok());
  EXPECT_EQ(queue().at(0).at("args").at(4), "too late") << "nothing was taken any more";
  expect_nothing_in_flight();
}

TEST_F(SidekiqRest, KeepsWhatItHoldsBesideAnotherOne) {
  begin_to_rest();
  test::Process other{lasting()};
  const auto then = heard_of();
  ASSERT_TRUE(test::eventually([&] { return heard_of() > then + 6'000; })) << "its heartbeats";
  EXPECT_EQ(server_.served(), held) << "nobody took over what it holds";
  server_.release();
  ASSERT_TRUE(test::eventually([&] { return queue().size() == held; }));
  expect_each_told_once(held);
}

TEST_F(SidekiqRest, ThatIsKilledIsTakenOver) {
  begin_to_rest();
  resting_->kill();
  server_.release();
  const auto second = test::run(run_command());
  ASSERT_TRUE(second.ending.ok()) << second.err;
  EXPECT_EQ(server_.served(), 2 * held) << "each was in flight, so each was sent again";
  expect_each_told_once(held);
}

TEST_F(SidekiqKills, CommandsShowWhatIsInFlightAndCountWhatWas) {
  HttpServer server{[](const ServedRequest& request) {
    auto reply = answer(200);
    reply.never = request.target.starts_with("/never");
    return reply;
  }};
  push({.url = server.url(), .id = "done"});
  push({.url = server.url("/never?secret=1"), .id = "flying"});
  test::Process processor{run_command()};
  ASSERT_TRUE(test::eventually([&] { return number({"HGET", key("totals"), "requests"}) == 1; }));
  auto cli = [&](const std::string& what) {
    return test::run({HOLDFAST_PROGRAM, "--json", "--store", address(), "http", what});
  };
  auto listed = boost::json::parse(cli("list").out);
  EXPECT_EQ(listed.at("id"), "flying");
  EXPECT_EQ(listed.at("host"), fmt::format("127.0.0.1:{}", server.port()).c_str());
  auto stats = boost::json::parse(cli("stats").out);
  EXPECT_EQ(stats.at("in_flight"), 1);
  EXPECT_EQ(stats.at("totals").at("http_status:200").to_number<int>(), 1);
  EXPECT_EQ(stats.at("processes").at(0).at("capacity"), 256);
  EXPECT_EQ(stats.at("processes").at(0).at("utilisation").to_number<double>(), 1.0 / 256);
  EXPECT_EQ(stats.at("measured"), 1);
  for (const auto* part : {"p50_seconds", "p95_seconds", "p99_seconds"}) {
    EXPECT_GT(stats.at(part).to_number<double>(), 0) << part;
    EXPECT_NEAR(stats.at(part).to_number<double>(), stats.at("average_seconds").to_number<double>(),
                stats.at("average_seconds").to_number<double>() / 8)
        << part;
  }
  auto text = test::run({HOLDFAST_PROGRAM, "--store", address(), "http", "stats"}).out;
  EXPECT_THAT(text, testing::ContainsRegex("on average .* s, half within .* s, 95 % within .* s"));
  auto refused = test::run({HOLDFAST_PROGRAM, "--store", address(), "task", "list"});
  EXPECT_THAT(refused.err, testing::HasSubstr("no tasks"));
}

}  // namespace
}  // namespace holdfast::sidekiq
