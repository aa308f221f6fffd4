#include "tasks/schedule_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/error.hpp>

#include "recovery/time_text.hpp"
#include "tasks/schedule_text.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

WallTime at(std::string_view text) { return parse_iso8601(text).value(); }

Schedule hourly(MissedRuns missed, std::string_view next = "2026-01-01T03:00Z") {
  Schedule schedule;
  schedule.name = "report";
  schedule.cron = "0 * * * *";
  schedule.task = {"report", R"({"to":"ada"})", {.queue = "slow", .tags = {"nightly"}}};
  schedule.missed = missed;
  schedule.next = at(next);
  schedule.revision = 7;
  return schedule;
}

std::vector<std::string> times_of(const ScheduleChange& change) {
  std::vector<std::string> times;
  for (const auto& task : change.fires)
    times.push_back(iso8601(scheduled_time(*task.options.id)).substr(0, 16));
  return times;
}

TEST(FireSchedule, OnTimeEveryPolicyDoesTheSame) {
  for (auto missed : {MissedRuns::skip, MissedRuns::once, MissedRuns::all}) {
    auto change = fire(hourly(missed), at("2026-01-01T03:00:59Z"));
    EXPECT_THAT(times_of(change), ElementsAre("2026-01-01T03:00"));
    EXPECT_EQ(change.to.next, at("2026-01-01T04:00Z"));
    EXPECT_EQ(change.to.last_fired, at("2026-01-01T03:00Z"));
    EXPECT_EQ(change.seen, 7);
    EXPECT_GT(change.to.revision, 7);
  }
}

TEST(FireSchedule, MissedTimesAreSkippedRunOnceOrAllRun) {
  auto late = at("2026-01-01T06:30Z");
  auto skipped = fire(hourly(MissedRuns::skip), late);
  EXPECT_THAT(times_of(skipped), ElementsAre());
  EXPECT_EQ(skipped.to.last_fired, std::nullopt);
  auto once = fire(hourly(MissedRuns::once), late);
  EXPECT_THAT(times_of(once), ElementsAre("2026-01-01T03:00"));
  auto all = fire(hourly(MissedRuns::all), late);
  EXPECT_THAT(times_of(all), ElementsAre("2026-01-01T03:00", "2026-01-01T04:00", "2026-01-01T05:00",
                                         "2026-01-01T06:00"));
  for (const auto& change : {skipped, once, all})
    EXPECT_EQ(change.to.next, at("2026-01-01T07:00Z"));
}

TEST(FireSchedule, WhoSkipsWhatIsMissedStillDoesWhatIsOnlyLate) {
  auto change = fire(hourly(MissedRuns::skip), at("2026-01-01T06:00:30Z"));
  EXPECT_THAT(times_of(change), ElementsAre("2026-01-01T06:00"));
}

TEST(FireSchedule, AllIsTheLastThousandInPortions) {
  auto schedule = hourly(MissedRuns::all, "2025-01-01T00:00Z");
  schedule.cron = "* * * * *";
  auto now = at("2026-01-01T00:00Z");
  std::vector<std::string> times;
  while (*schedule.next <= now) {
    auto change = fire(schedule, now);
    ASSERT_EQ(change.fires.size(), fired_at_once);
    for (auto& time : times_of(change)) times.push_back(std::move(time));
    schedule = change.to;
  }
  EXPECT_EQ(times.size(), most_missed);
  EXPECT_EQ(times.front(), "2025-12-31T07:21");
  EXPECT_EQ(times.back(), "2026-01-01T00:00");
  EXPECT_EQ(schedule.next, now + 1min);
}

TEST(FireSchedule, TheTaskOfATimeIsAlwaysTheSame) {
  auto once = fire(hourly(MissedRuns::once), at("2026-01-01T03:00Z")).fires.at(0);
  auto again = fire(hourly(MissedRuns::once), at("2026-01-01T09:00Z")).fires.at(0);
  EXPECT_EQ(once.options.id, again.options.id);
  EXPECT_EQ(once.kind, "report");
  EXPECT_EQ(once.payload, R"({"to":"ada"})");
  EXPECT_EQ(once.options.queue, "slow");
  EXPECT_THAT(once.options.tags, ElementsAre("nightly", "schedule-report"));
  auto other = hourly(MissedRuns::once);
  other.name = "another";
  EXPECT_NE(fire(other, at("2026-01-01T03:00Z")).fires.at(0).options.id, once.options.id);
  EXPECT_NE(scheduled_task_id("report", at("2026-01-01T04:00Z")), once.options.id);
}

std::string complaint(const std::function<void(Schedule&)>& spoil) {
  auto schedule = hourly(MissedRuns::once);
  spoil(schedule);
  try {
    validate(schedule, {});
    return "";
  } catch (const InvalidRequest& refusal) {
    return refusal.what();
  }
}

TEST(ValidateSchedule, SaysWhatIsWrong) {
  EXPECT_EQ(complaint([](auto&) {}), "");
  EXPECT_THAT(complaint([](auto& s) { s.name = ""; }), HasSubstr("a-z, 0-9 and '-'"));
  EXPECT_THAT(complaint([](auto& s) { s.name = "Nightly"; }), HasSubstr("'Nightly'"));
  EXPECT_THAT(complaint([](auto& s) { s.name = std::string(41, 'a'); }), HasSubstr("1 to 40"));
  EXPECT_THAT(complaint([](auto& s) { s.cron = "0 0 30 2 *"; }), HasSubstr("no day that ever"));
  EXPECT_THAT(complaint([](auto& s) { s.cron = "daily"; }), HasSubstr("1 fields"));
  EXPECT_THAT(complaint([](auto& s) { s.zone = "Mars/Base"; }), HasSubstr("'Mars/Base'"));
  EXPECT_THAT(complaint([](auto& s) { s.task.kind = ""; }), HasSubstr("kind is empty"));
  EXPECT_THAT(complaint([](auto& s) { s.task.payload = "{"; }), HasSubstr("not valid JSON"));
  EXPECT_THAT(complaint([](auto& s) { s.task.options.id = TaskId::make(); }), HasSubstr("no id"));
  EXPECT_THAT(complaint([](auto& s) { s.task.options.after = {TaskId::make()}; }),
              HasSubstr("dependencies"));
}

TEST(ScheduleOptions, ComeBackFromTextAsTheyWere) {
  TaskOptions options{.queue = "größer \"als\"",
                      .priority = 1,
                      .delay = 5s,
                      .max_attempts = 9,
                      .backoff = {7ms, 1.5, 1h, 0.25},
                      .timeout = 30s,
                      .unique_key = "one",
                      .limit_key = "acme",
                      .tags = {"a", "b"}};
  auto back = parse_options(options_text(options));
  EXPECT_EQ(options_text(back), options_text(options));
  EXPECT_EQ(back.queue, options.queue);
  EXPECT_EQ(back.backoff.longest, 1h);
  EXPECT_EQ(back.backoff.jitter, 0.25);
  EXPECT_EQ(back.limit_key, "acme");
  EXPECT_THAT(back.tags, ElementsAre("a", "b"));
}

}  // namespace
}  // namespace holdfast
