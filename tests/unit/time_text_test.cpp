#include "recovery/time_text.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::chrono;
using namespace std::chrono_literals;

WallTime at(year_month_day date, Millis time_of_day) {
  return WallTime{sys_days{date}} + time_of_day;
}

TEST(TimeText, WritesUtcWithMilliseconds) {
  EXPECT_EQ(iso8601(WallTime{}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(iso8601(at(2024y / 2 / 29, 23h + 59min + 59s + 7ms)), "2024-02-29T23:59:59.007Z");
  EXPECT_EQ(iso8601(WallTime{} - 1ms), "1969-12-31T23:59:59.999Z");
}

TEST(TimeText, ReadsBackWhatItWrites) {
  for (std::int64_t ms : {0L, 1L, -1L, 1'700'000'000'123L, 253'402'300'799'999L})
    EXPECT_EQ(parse_iso8601(iso8601(WallTime{Millis{ms}})), WallTime{Millis{ms}});
}

TEST(TimeText, ReadsWhatPeopleWrite) {
  auto noon = at(2024y / 1 / 15, 12h);
  for (auto text : {"2024-01-15T12:00:00Z", "2024-01-15 12:00Z", "2024-01-15T14:00:00+02:00",
                    "2024-01-15T06:30:00.000000-0530", "2024-01-15t12:00:00.0z"})
    EXPECT_EQ(parse_iso8601(text), noon) << text;
  EXPECT_EQ(parse_iso8601("2024-01-15T12:00:00.5Z"), noon + 500ms);
  EXPECT_EQ(parse_iso8601("2024-01-15T12:00:00.1239Z"), noon + 123ms);
}

TEST(TimeText, RefusesWhatIsNotATime) {
  for (auto text : {"", "tomorrow", "2024-01-15", "2024-01-15T12:00:00", "2024-02-30T12:00:00Z",
                    "2024-01-15T24:00:00Z", "2024-01-15T12:60:00Z", "2024-01-15T12:00:00Zz",
                    "2024-01-15T12:00:00.Z", "2024-1-15T12:00:00Z", "2024-01-15T12:00:00+99:00"})
    EXPECT_FALSE(parse_iso8601(text)) << text;
}

TEST(TimeText, NamesDurationsByTheirLargestUnits) {
  struct Case {
    Millis duration;
    std::string_view text;
  };
  for (auto [duration, text] :
       {Case{0ms, "0 ms"}, Case{999ms, "999 ms"}, Case{1s, "1 s"}, Case{1'249ms, "1.2 s"},
        Case{59'999ms, "59.9 s"}, Case{5min, "5m"}, Case{5min + 30s, "5m 30s"},
        Case{3h + 20min + 9s, "3h 20m"}, Case{24h * 4 + 2h, "4d 2h"}, Case{-1'500ms, "-1.5 s"}})
    EXPECT_EQ(duration_text(duration), text);
}

TEST(TimeText, NamesAgesByOneUnit) {
  WallTime now{24h * 365};
  EXPECT_EQ(age_text(now - 300ms, now), "just now");
  EXPECT_EQ(age_text(now - 12s, now), "12s ago");
  EXPECT_EQ(age_text(now - 5min - 59s, now), "5m ago");
  EXPECT_EQ(age_text(now - 3h, now), "3h ago");
  EXPECT_EQ(age_text(now - 49h, now), "2d ago");
  EXPECT_EQ(age_text(now + 20s, now), "in 20s");
  EXPECT_EQ(age_text(now + 20ms, now), "in a moment");
  EXPECT_EQ(age_text(now, now), "just now");
}

}  // namespace
}  // namespace holdfast
