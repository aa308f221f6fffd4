#include "scenario/cli_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CliSchedules : public CliScenario {};

TEST_F(CliSchedules, WhatIsAddedIsListed) {
  EXPECT_THAT(ok({"schedule",    "add",
                  "nightly",     "30 2 * * mon-fri",
                  "clean",       R"({"days": 30})",
                  "--zone",      "Europe/Berlin",
                  "--missed",    "all",
                  "--queue",     "slow",
                  "--unique",    "k",
                  "--limit-key", "acme",
                  "--tag",       "x",
                  "--timeout",   "5m"}),
              HasSubstr("schedule nightly is added; its next time is 2"));
  const auto schedule = json({"schedule", "list"}).at(0);
  EXPECT_EQ(schedule.at("name"), "nightly");
  EXPECT_EQ(schedule.at("cron"), "30 2 * * mon-fri");
  EXPECT_EQ(schedule.at("zone"), "Europe/Berlin");
  EXPECT_EQ(schedule.at("missed"), "all");
  EXPECT_EQ(schedule.at("kind"), "clean");
  EXPECT_EQ(schedule.at("payload").at("days"), 30);
  EXPECT_EQ(schedule.at("queue"), "slow");
  EXPECT_EQ(schedule.at("unique_key"), "k");
  EXPECT_EQ(schedule.at("limit_key"), "acme");
  EXPECT_EQ(schedule.at("timeout_ms"), 300'000);
  EXPECT_EQ(schedule.at("paused"), false);
  EXPECT_TRUE(schedule.at("last_fired").is_null());
  EXPECT_THAT(ok({"schedule", "list"}),
              AllOf(HasSubstr("nightly"), HasSubstr("Europe/Berlin"), HasSubstr("clean")));
}

TEST_F(CliSchedules, AddingAgainSaysWhatChanged) {
  auto result = [&](const std::string& cron) {
    return json({"schedule", "add", "s", cron, "clean"}).at(0).at("result");
  };
  EXPECT_EQ(result("@daily"), "added");
  EXPECT_EQ(result("@daily"), "unchanged");
  EXPECT_EQ(result("@hourly"), "changed");
  EXPECT_THAT(json({"schedule", "list"}), SizeIs(1));
}

TEST_F(CliSchedules, PauseResumeRemove) {
  ok({"schedule", "add", "s", "@daily", "clean"});
  EXPECT_THAT(ok({"schedule", "pause", "s"}), HasSubstr("schedule s is paused"));
  EXPECT_EQ(json({"schedule", "list"}).at(0).at("paused"), true);
  EXPECT_TRUE(json({"schedule", "list"}).at(0).at("next").is_null());
  EXPECT_THAT(ok({"schedule", "list"}), HasSubstr("paused"));
  ok({"schedule", "resume", "s"});
  EXPECT_EQ(json({"schedule", "list"}).at(0).at("paused"), false);
  ok({"schedule", "remove", "s"});
  EXPECT_THAT(json({"schedule", "list"}), IsEmpty());
  EXPECT_THAT(ok({"schedule", "list"}), HasSubstr("holdfast schedule add"));
}

TEST_F(CliSchedules, MistakesAreExplainedAndChangeNothing) {
  auto refused = [&](std::vector<std::string> arguments) {
    auto finished = cli(std::move(arguments));
    EXPECT_EQ(finished.ending.code, 1);
    return finished.err;
  };
  EXPECT_THAT(refused({"schedule", "add", "s", "61 * * * *", "clean"}), HasSubstr("minute"));
  EXPECT_THAT(refused({"schedule", "add", "s", "@daily", "clean", "--zone", "Mars/Base"}),
              HasSubstr("not a time zone"));
  EXPECT_THAT(refused({"schedule", "add", "s", "@daily", "clean", "{"}), HasSubstr("JSON"));
  EXPECT_THAT(refused({"schedule", "add", "No Good", "@daily", "clean"}), HasSubstr("a-z, 0-9"));
  EXPECT_THAT(refused({"schedule", "add", "s", "@daily", "clean", "--missed", "some"}),
              HasSubstr("--missed"));
  ok({"task", "add", "clean"});
  for (auto action : {"pause", "resume", "remove"})
    EXPECT_THAT(refused({"schedule", action, "s"}), HasSubstr("no schedule 's'"));
  EXPECT_THAT(json({"schedule", "list"}), IsEmpty());
}

class CliLimits : public CliScenario {};

TEST_F(CliLimits, WhatIsSetIsListedAndRemoved) {
  ok({"limit", "set", "queue", "mail", "--max-running", "3"});
  ok({"limit", "set", "key", "*", "--max-running", "1", "--rate", "100/1m", "--burst", "20"});
  const auto limits = json({"limit", "list"});
  ASSERT_THAT(limits, SizeIs(2));
  EXPECT_EQ(limits[0].at("scope"), "queue");
  EXPECT_EQ(limits[0].at("name"), "mail");
  EXPECT_EQ(limits[0].at("max_running"), 3);
  EXPECT_TRUE(limits[0].at("rate").is_null());
  EXPECT_EQ(limits[1].at("rate").at("tasks"), 100);
  EXPECT_EQ(limits[1].at("rate").at("period_ms"), 60'000);
  EXPECT_EQ(limits[1].at("rate").at("burst"), 20);
  EXPECT_THAT(ok({"limit", "list"}), AllOf(HasSubstr("mail"), HasSubstr("100 in 1m")));
  EXPECT_THAT(ok({"limit", "remove", "queue", "mail"}), HasSubstr("is removed"));
  EXPECT_THAT(json({"limit", "list"}), SizeIs(1));
}

TEST_F(CliLimits, ATaskThatIsHeldBackSaysByWhat) {
  const auto id = add({"mail", "--limit-key", "acme"});
  EXPECT_EQ(json({"task", "show", id}).at(0).at("limit_key"), "acme");
  ok({"limit", "set", "key", "acme", "--max-running", "0"});
  EXPECT_THAT(ok({"task", "explain", id}), HasSubstr("A limit lets no task of key 'acme' run"));
  ok({"worker", "run", "--kind", "mail", "--until-empty", "--", "/bin/true"});
  EXPECT_EQ(state_of(id), "pending");
  ok({"limit", "remove", "key", "acme"});
  ok({"worker", "run", "--kind", "mail", "--until-empty", "--", "/bin/true"});
  EXPECT_EQ(state_of(id), "completed");
}

TEST_F(CliLimits, MistakesAreExplained) {
  auto refused = [&](std::vector<std::string> arguments) {
    auto finished = cli(std::move(arguments));
    EXPECT_EQ(finished.ending.code, 1);
    return finished.err;
  };
  EXPECT_THAT(refused({"limit", "set", "queue", "mail"}), HasSubstr("limits nothing"));
  EXPECT_THAT(refused({"limit", "set", "tenant", "mail", "--max-running", "1"}),
              HasSubstr("SCOPE"));
  EXPECT_THAT(refused({"limit", "set", "queue", "mail", "--max-running", "-1"}),
              HasSubstr("--max-running"));
  for (auto rate : {"10", "x/1s", "/1s", "10/", "10/s", "0/1s", "10/0s", "1.5/1s", "10/40d"})
    EXPECT_NE(refused({"limit", "set", "queue", "mail", "--rate", rate}), "") << rate;
  EXPECT_THAT(refused({"limit", "set", "queue", "mail", "--rate", "ten"}), HasSubstr("100/1m"));
  EXPECT_THAT(refused({"task", "add", "mail", "--limit-key", "*"}), HasSubstr("every key"));
  ok({"task", "add", "mail"});
  EXPECT_THAT(refused({"limit", "remove", "queue", "mail"}), HasSubstr("no limit of queue 'mail'"));
}

}  // namespace
}  // namespace holdfast::test
