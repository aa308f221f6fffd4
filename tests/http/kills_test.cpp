#include <csignal>
#include <fstream>

#include "http/forget.hpp"
#include "http/program_scenario.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;

/// Dies at one place on the way of a request, and another process goes on.
class RequestKillPoints : public ProgramScenario,
                          public testing::WithParamInterface<std::string_view> {};

TEST_P(RequestKillPoints, DyingThereLosesNoRequestAndTellsEachCallbackOnce) {
  constexpr int count = 5;
  HttpServer server{[](const ServedRequest&) { return answer(200, std::string(100'000, 'x')); }};
  enqueue(server.url(), count);
  auto blobs = "dir:" + (store_.folder() / "blobs").string();
  auto words = run_words({"--until-empty", "--blobs", blobs});
  auto died = test::run(command(words), {{"HOLDFAST_KILL_AT", std::string{GetParam()}}});
  ASSERT_EQ(died.ending.signal, SIGKILL) << GetParam() << " was not reached\n" << died.err;
  auto finished = cli(words);
  ASSERT_TRUE(finished.ending.ok()) << finished.err;
  expect_each_told_once(count, {.blobs = open_blobs(blobs)});
  EXPECT_LE(server.served(), 2 * count);
}

TEST_P(RequestKillPoints, DyingThereLosesNoAnswerThatHasNoCallback) {
  HttpServer server{[](const ServedRequest&) { return answer(200, std::string(100'000, 'x')); }};
  auto blobs = "dir:" + (store_.folder() / "blobs").string();
  Client client{engine_, {.payloads = {.blobs = open_blobs(blobs)}}};
  std::vector<TaskId> ids{client.get(server.url()), client.get(server.url())};
  auto words = run_words({"--until-empty", "--blobs", blobs});
  auto died = test::run(command(words), {{"HOLDFAST_KILL_AT", std::string{GetParam()}}});
  ASSERT_EQ(died.ending.signal, SIGKILL) << GetParam() << " was not reached\n" << died.err;
  auto finished = cli(words);
  ASSERT_TRUE(finished.ending.ok()) << finished.err;
  sweep(engine_, *open_blobs(blobs), std::chrono::seconds{0});
  EXPECT_EQ(open_blobs(blobs)->list().size(), ids.size()) << "one each";
  for (auto id : ids) EXPECT_EQ(client.answer(id)->body.size(), 100'000u);
}

std::vector<std::string_view> points_of_requests() {
  std::vector<std::string_view> points{"exchange_before_commit", "exchange_after_commit",
                                       "handler_before_start", "handler_after_return"};
  for (auto name : kill_point_names)
    if ((name.starts_with("http") || name.starts_with("blob")) && !name.starts_with("http_sidekiq"))
      points.push_back(name);
  return points;
}

INSTANTIATE_TEST_SUITE_P(Every, RequestKillPoints, testing::ValuesIn(points_of_requests()),
                         [](const auto& point) { return std::string{point.param}; });

class RequestKills : public ProgramScenario {};

TEST_F(RequestKills, WhatIsNotToBeSentTwiceIsSentOnceAndTheRestIsLeftToAnOperator) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  enqueue(server.url(), 1, OnAmbiguous::hold);
  auto died =
      test::run(command(run_words({"--until-empty"})), {{"HOLDFAST_KILL_AT", "http_after_answer"}});
  ASSERT_EQ(died.ending.signal, SIGKILL);
  EXPECT_EQ(server.served(), 1);
  ASSERT_TRUE(cli(run_words({"--until-empty"})).ending.ok());
  EXPECT_EQ(server.served(), 1);
  auto held = inspector_.tasks({.states = {TaskState::held}, .kind = request_kind});
  ASSERT_EQ(held.size(), 1u);
  EXPECT_THAT(held.front().cause, testing::HasSubstr("may have been sent"));
  inspector_.retry({.kind = request_kind});
  ASSERT_TRUE(cli(run_words({"--until-empty"})).ending.ok());
  EXPECT_EQ(server.served(), 2);
  expect_each_told_once(1);
}

TEST_F(RequestKills, OnlyWhatHadAPlaceAtItsHostMayHaveBeenSent) {
  constexpr int count = 4;
  std::atomic<bool> silent = true;
  HttpServer server{[&](const ServedRequest&) {
    auto reply = answer(200);
    reply.never = silent;
    return reply;
  }};
  enqueue(server.url(), count, OnAmbiguous::hold);
  test::Process first{command(run_words({"--per-host", "1"}))};
  ASSERT_TRUE(test::eventually([&] {
    return server.served() == 1 &&
           inspector_.count({.states = {TaskState::running}, .kind = request_kind}) == count;
  }));
  first.kill();
  silent = false;
  ASSERT_TRUE(cli(run_words({"--until-empty"})).ending.ok());
  EXPECT_EQ(server.served(), count);
  EXPECT_EQ(inspector_.count({.states = {TaskState::held}, .kind = request_kind}), 1);
  expect_each_told_once(count - 1);
}

TEST_F(RequestKills, KilledInTheMiddleAnotherFinishesEveryOne) {
  constexpr int count = 800;
  std::atomic<bool> slow = true;
  HttpServer server{[&](const ServedRequest&) {
    auto reply = answer(200, "x");
    if (slow) reply.after = std::chrono::minutes{5};
    return reply;
  }};
  enqueue(server.url(), count);
  test::Process first{command(run_words())};
  ASSERT_TRUE(test::eventually([&] { return server.served() == count; }, std::chrono::seconds{60}));
  slow = false;
  first.kill();
  auto second = cli(run_words({"--until-empty"}));
  ASSERT_TRUE(second.ending.ok()) << second.err;
  EXPECT_EQ(server.served(), 2 * count) << "each was in flight, so each was sent again";
  expect_each_told_once(count);
}

TEST_F(RequestKills, AProcessThatSleptTooLongDeliversNothingASecondTime) {
  auto config = (store_.folder() / "config.yaml").string();
  std::ofstream{config} << "queue:\n  heartbeat:\n    intervalSeconds: 1\n"
                           "    staleThresholdMultiplier: 2\n    detectionIntervalSeconds: 1\n";
  std::atomic<int> asked = 0;
  HttpServer server{[&](const ServedRequest&) {
    auto reply = answer(200, "x");
    if (++asked == 1) reply.after = std::chrono::milliseconds{500};
    return reply;
  }};
  enqueue(server.url(), 1);
  test::Process sleeper{command(run_words({"--config", config}))};
  ASSERT_TRUE(test::eventually([&] { return asked == 1; }));
  sleeper.stop();
  // Until its lease is over, there is nothing to do for another one.
  ASSERT_TRUE(test::eventually(
      [&] {
        cli(run_words({"--config", config, "--until-empty"}));
        return inspector_.count({.states = {TaskState::completed}, .kind = request_kind}) == 1;
      },
      std::chrono::seconds{60}));
  EXPECT_EQ(asked, 2);
  sleeper.signal(SIGCONT);
  sleeper.signal(SIGTERM);
  ASSERT_TRUE(sleeper.wait());
  expect_each_told_once(1);
}

}  // namespace
}  // namespace holdfast::http
