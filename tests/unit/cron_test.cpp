#include "tasks/cron.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/error.hpp>

#include "recovery/time_text.hpp"

namespace holdfast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

WallTime at(std::string_view text) { return parse_iso8601(text).value(); }

/// The first `count` times after `time`, without their seconds.
std::vector<std::string> times(std::string_view cron, std::string_view time, std::size_t count,
                               const std::string& zone = "UTC") {
  std::vector<std::string> found;
  TimeZone clock{zone};
  auto next = std::optional{at(time)};
  while (found.size() < count && (next = Cron{cron}.next_after(*next, clock)))
    found.push_back(iso8601(*next).substr(0, 16));
  return found;
}

std::string complaint(std::string_view cron) {
  try {
    Cron{cron};
    return "";
  } catch (const InvalidRequest& refusal) {
    return refusal.what();
  }
}

TEST(Cron, ListsRangesStepsAndNames) {
  EXPECT_THAT(times("*/20 * * * *", "2026-01-01T00:05Z", 3),
              ElementsAre("2026-01-01T00:20", "2026-01-01T00:40", "2026-01-01T01:00"));
  EXPECT_THAT(times("5,10-12,50/5 3 * * *", "2026-01-01T00:00Z", 6),
              ElementsAre("2026-01-01T03:05", "2026-01-01T03:10", "2026-01-01T03:11",
                          "2026-01-01T03:12", "2026-01-01T03:50", "2026-01-01T03:55"));
  EXPECT_THAT(times("0 9-17/4 * * *", "2026-01-01T09:00Z", 3),
              ElementsAre("2026-01-01T13:00", "2026-01-01T17:00", "2026-01-02T09:00"));
  EXPECT_THAT(times("0 0 1 JAN,jul *", "2026-01-01T00:00Z", 2),
              ElementsAre("2026-07-01T00:00", "2027-01-01T00:00"));
  // 1 January 2026 is a Thursday.
  EXPECT_THAT(times("0 0 * * sat-sun", "2026-01-01T00:00Z", 3),
              ElementsAre("2026-01-03T00:00", "2026-01-04T00:00", "2026-01-10T00:00"));
  EXPECT_THAT(times("0 0 * * 7", "2026-01-01T00:00Z", 1), ElementsAre("2026-01-04T00:00"));
  EXPECT_THAT(times("0 0 * * 0", "2026-01-01T00:00Z", 1), ElementsAre("2026-01-04T00:00"));
}

TEST(Cron, Nicknames) {
  EXPECT_THAT(times("@hourly", "2026-01-01T00:00Z", 1), ElementsAre("2026-01-01T01:00"));
  EXPECT_THAT(times("@daily", "2026-01-01T00:00Z", 1), ElementsAre("2026-01-02T00:00"));
  EXPECT_THAT(times("@weekly", "2026-01-01T00:00Z", 1), ElementsAre("2026-01-04T00:00"));
  EXPECT_THAT(times("@monthly", "2026-01-01T00:00Z", 1), ElementsAre("2026-02-01T00:00"));
  EXPECT_THAT(times("@yearly", "2026-01-01T00:00Z", 1), ElementsAre("2027-01-01T00:00"));
}

TEST(Cron, TwoRestrictedDaysAreAlternatives) {
  EXPECT_THAT(times("0 0 13 * fri", "2026-02-01T00:00Z", 3),
              ElementsAre("2026-02-06T00:00", "2026-02-13T00:00", "2026-02-20T00:00"));
  EXPECT_THAT(times("0 0 13 * *", "2026-02-01T00:00Z", 2),
              ElementsAre("2026-02-13T00:00", "2026-03-13T00:00"));
}

TEST(Cron, RareDaysAreFoundAndImpossibleOnesAreNot) {
  EXPECT_THAT(times("0 0 29 2 *", "2096-03-01T00:00Z", 1), ElementsAre("2104-02-29T00:00"));
  EXPECT_THAT(times("0 0 31 4,6,9,11 *", "2026-01-01T00:00Z", 1), ElementsAre());
}

TEST(Cron, TheNextTimeIsAlwaysLater) {
  TimeZone utc{"UTC"};
  Cron every_minute{"* * * * *"};
  EXPECT_EQ(every_minute.next_after(at("2026-01-01T00:00:00.000Z"), utc), at("2026-01-01T00:01Z"));
  EXPECT_EQ(every_minute.next_after(at("2026-01-01T00:00:00.001Z"), utc), at("2026-01-01T00:01Z"));
  EXPECT_EQ(every_minute.next_after(at("2026-01-01T00:00:59.999Z"), utc), at("2026-01-01T00:01Z"));
}

TEST(Cron, ZonesHaveTheirOwnDay) {
  EXPECT_THAT(times("0 3 * * *", "2026-01-15T00:00Z", 1, "Europe/Berlin"),
              ElementsAre("2026-01-15T02:00"));
  EXPECT_THAT(times("0 3 * * *", "2026-07-15T00:00Z", 1, "Europe/Berlin"),
              ElementsAre("2026-07-15T01:00"));
  EXPECT_THAT(times("30 9 * * *", "2026-01-15T00:00Z", 1, "Asia/Kolkata"),
              ElementsAre("2026-01-15T04:00"));
  EXPECT_THAT(times("0 0 1 1 *", "2025-12-31T09:00Z", 1, "Pacific/Kiritimati"),
              ElementsAre("2025-12-31T10:00"));
}

// In Berlin the clock goes from 2:00 to 3:00 on 29 March 2026 (1:00 UTC).
TEST(Cron, ATimeThatTheClockSkipsIsTheMomentAfterTheGap) {
  EXPECT_THAT(times("30 2 * * *", "2026-03-28T12:00Z", 2, "Europe/Berlin"),
              ElementsAre("2026-03-29T01:00", "2026-03-30T00:30"));
  EXPECT_THAT(times("*/20 2 * * *", "2026-03-28T12:00Z", 2, "Europe/Berlin"),
              ElementsAre("2026-03-29T01:00", "2026-03-30T00:00"))
      << "three of them are the same moment";
  EXPECT_THAT(times("0 3 * * *", "2026-03-28T12:00Z", 1, "Europe/Berlin"),
              ElementsAre("2026-03-29T01:00"));
}

// And from 3:00 to 2:00 on 25 October 2026 (1:00 UTC).
TEST(Cron, ATimeThatTheClockShowsTwiceIsTheFirst) {
  EXPECT_THAT(times("30 2 * * *", "2026-10-24T12:00Z", 2, "Europe/Berlin"),
              ElementsAre("2026-10-25T00:30", "2026-10-26T01:30"));
  EXPECT_THAT(times("30 2 * * *", "2026-10-25T01:10Z", 1, "Europe/Berlin"),
              ElementsAre("2026-10-26T01:30"))
      << "asked while the clock shows 2:10 for the second time";
}

TEST(Cron, EveryHourMeansEveryHourThatPasses) {
  EXPECT_THAT(
      times("30 * * * *", "2026-10-24T23:40Z", 4, "Europe/Berlin"),
      ElementsAre("2026-10-25T00:30", "2026-10-25T01:30", "2026-10-25T02:30", "2026-10-25T03:30"));
  EXPECT_THAT(times("30 * * * *", "2026-03-28T23:40Z", 3, "Europe/Berlin"),
              ElementsAre("2026-03-29T00:30", "2026-03-29T01:30", "2026-03-29T02:30"));
  EXPECT_EQ(times("*/5 * * * *", "2026-10-24T12:00Z", 12 * 24, "Europe/Berlin").back(),
            "2026-10-25T12:00");
}

// The clock of Lord Howe is put back by half an hour only; Samoa had no 30 December 2011.
TEST(Cron, OddChangesOfTheClock) {
  EXPECT_THAT(times("45 1 * * *", "2026-04-03T20:00Z", 2, "Australia/Lord_Howe"),
              ElementsAre("2026-04-04T14:45", "2026-04-05T15:15"));
  EXPECT_THAT(times("0 0 * * *", "2011-12-29T11:00Z", 2, "Pacific/Apia"),
              ElementsAre("2011-12-30T10:00", "2011-12-31T10:00"));
}

TEST(Cron, SaysWhichFieldIsWrongAndWhatIsAllowed) {
  EXPECT_THAT(complaint(""), HasSubstr("has 0 fields; write five"));
  EXPECT_THAT(complaint("* * * *"), HasSubstr("has 4 fields"));
  EXPECT_THAT(complaint("@reboot"), HasSubstr("@daily"));
  EXPECT_THAT(complaint("60 * * * *"), HasSubstr("minute of the cron text is '60'"));
  EXPECT_THAT(complaint("* 24 * * *"), HasSubstr("the numbers 0 to 23"));
  EXPECT_THAT(complaint("* * 0 * *"), HasSubstr("day of the month"));
  EXPECT_THAT(complaint("* * * 13 *"), HasSubstr("names jan to dec"));
  EXPECT_THAT(complaint("* * * * 8"), HasSubstr("day of the week"));
  for (auto minute : {"", "-", "5-", "-5", "9-5", "*/0", "*/-1", "1//2", "1,,2", "1,", "+1", "1.5",
                      "99999999999999999999", "mon", "*5"})
    EXPECT_NE(complaint(std::string{minute} + " * * * *"), "") << minute;
  EXPECT_THAT(complaint("\x1b[2J * * * *"), HasSubstr("\\x1b"));
}

TEST(TimeZone, SaysWhatANameLooksLike) {
  for (auto name : {"", "Berlin", "Europe/Atlantis", "../etc/passwd", "europe/berlin "}) {
    try {
      TimeZone{name};
      ADD_FAILURE() << name;
    } catch (const InvalidRequest& refusal) {
      EXPECT_THAT(refusal.what(), HasSubstr("Europe/Berlin")) << name;
    }
  }
}

}  // namespace
}  // namespace holdfast
