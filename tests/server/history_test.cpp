#include "server/history.hpp"

#include <gmock/gmock.h>

#include "server/roll.hpp"
#include "support/temp_store.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::DoubleEq;
using testing::DoubleNear;
using testing::IsEmpty;
using testing::Optional;

const WallTime start{hours{24 * 20'000}};

TimeHistogram took(Millis time, int count = 1) {
  TimeHistogram histogram;
  histogram.add(time, count);
  return histogram;
}

class MetricsHistory : public testing::Test {
 protected:
  static Settings quick() {
    Settings settings;
    settings.durability = Durability::crash_safe;
    return settings;
  }
  /// As a server does: a point a second, written now and then.
  static void watch(server::History& history, int first, int end) {
    for (int i = first; i < end; ++i) {
      const auto now = start + seconds{i};
      history.add({.at = now + Millis{300},
                   .pending = i % 60,
                   .completed_per_s = 2,
                   .run = took(Millis{i % 60 == 7 ? 2'000 : 10})});
      if (i % 10 == 9) history.flush(now);
    }
  }

  TempStore place_;
  Engine engine_ = open(place_.address(), quick());
};

TEST_F(MetricsHistory, FallsInResolutionAndSurvivesTheServer) {
  const int end = 3 * 3'600;
  {
    server::History history{engine_};
    watch(history, 0, end);
  }
  const auto now = start + seconds{end - 1};
  const server::History again{engine_};
  const auto fine = again.since(now - minutes{10}, now);
  EXPECT_EQ(fine.resolution_s, 1);
  EXPECT_EQ(fine.points.size(), 601u);
  EXPECT_EQ(fine.points.back().at, now);
  const auto coarse = again.since(start, now);
  EXPECT_EQ(coarse.resolution_s, 60);
  EXPECT_EQ(coarse.points.size(), 180u);
  EXPECT_EQ(coarse.points[5].pending, 30);
  EXPECT_EQ(coarse.points[5].at, start + minutes{5});
  EXPECT_THAT(coarse.points[5].completed_per_s, DoubleEq(2));
  EXPECT_THAT(coarse.points[5].p50_ms, Optional(DoubleNear(10, 1.3)));
  EXPECT_THAT(coarse.points[5].p99_ms, Optional(DoubleNear(2'000, 250))) << "one of sixty";
  const auto year = again.since(now - hours{24 * 100}, now);
  EXPECT_EQ(year.resolution_s, 3'600);
  EXPECT_EQ(year.points.size(), 3u);
  EXPECT_EQ(again.kept_in(), "the store");
}

TEST_F(MetricsHistory, KeepsSecondsForAnHourOnly) {
  server::History history{engine_};
  watch(history, 0, 2 * 3'600);
  auto& kept = *engine_.parts().metrics_history();
  EXPECT_LE(kept.read(1, {}, start + hours{9}).size(), 3'600u);
  EXPECT_EQ(kept.read(60, {}, start + hours{9}).size(), 119u);
}

TEST_F(MetricsHistory, OfTwoServersIsOfOneStore) {
  server::History one{engine_}, other{open(place_.address(), quick())};
  watch(one, 0, 300);
  watch(other, 100, 500);
  watch(one, 300, 500);
  const auto now = start + seconds{499};
  const auto read = other.since(start - hours{2}, now);
  EXPECT_EQ(read.resolution_s, 60);
  ASSERT_EQ(read.points.size(), 9u);
  for (const auto& point : read.points) {
    EXPECT_THAT(point.completed_per_s, DoubleEq(2)) << "counted once";
    EXPECT_LE(point.run.total(), 60);
  }
}

TEST_F(MetricsHistory, GoesOnWhereAServerStoppedInTheMiddleOfAMinute) {
  {
    server::History history{engine_};
    watch(history, 0, 90);
  }
  server::History next{engine_};
  watch(next, 200, 250);
  const auto minutes_kept = engine_.parts().metrics_history()->read(60, {}, start + hours{1});
  ASSERT_EQ(minutes_kept.size(), 3u);
  EXPECT_EQ(minutes_kept[1].at, start + minutes{1});
  EXPECT_EQ(server::parse_point({}, minutes_kept[1].text)->run.total(), 30);
}

TEST(MetricsPoint, StaysWithinItsBudgetWhateverItHolds) {
  server::Point point{.at = start,
                      .pending = INT64_MAX,
                      .running = INT64_MAX,
                      .blocked = INT64_MAX,
                      .held = INT64_MAX,
                      .failed = INT64_MAX,
                      .workers = INT64_MAX,
                      .completed_per_s = 1234567.891};
  for (int i = 0; i < 40; ++i) {
    const std::chrono::microseconds time{std::int64_t{1} << i};
    point.run.add(time, 1'000'000'000'000 + i);
    point.wait.add(time, 1'000'000'000'000 + i);
  }
  point.set_percentiles(point.run, point.wait);
  const auto text = server::point_text(point);
  EXPECT_LE(text.size(), server::longest_point_text);
  const auto parsed = server::parse_point(start, text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->pending, INT64_MAX);
  EXPECT_EQ(parsed->run.total(), point.run.total());
  EXPECT_EQ(server::parse_point(start, "2|1 2 3||"), std::nullopt);
}

/// Workers that tell, and a server that looks every second.
class FigureRoll : public testing::Test {
 protected:
  void tell(WorkerId worker, int completed, int at_second) {
    Figures figures;
    figures.of("mail") = {.started = completed, .completed = completed};
    figures.run.add(Millis{20}, completed);
    std::erase_if(told_, [&](const auto& each) { return each.worker == worker; });
    told_.push_back({worker, start, start + seconds{at_second}, figures.text()});
  }
  /// How many were completed from one second to another, as rates say it.
  double completed(int first, int end) {
    double sum = 0;
    for (int i = first; i < end; ++i) {
      rates_ = roll_.look(told_, start + seconds{i});
      sum += rates_.completed_per_s;
    }
    return sum;
  }

  server::Roll roll_;
  server::Roll::Rates rates_;
  std::vector<ToldFigures> told_;
  WorkerId one_ = WorkerId::make(), two_ = WorkerId::make();
};

TEST_F(FigureRoll, CountsEverythingOnceAndSmoothly) {
  EXPECT_EQ(completed(0, 5), 0);
  tell(one_, 50, 5);
  EXPECT_THAT(completed(5, 6), DoubleNear(10, 0.01));
  EXPECT_THAT(rates_.run_lately.percentile_ms(0.5), Optional(DoubleNear(20, 2.5)));
  EXPECT_THAT(completed(6, 10), DoubleNear(40, 0.01));
  EXPECT_EQ(rates_.run.total(), 0) << "told before";
  tell(one_, 150, 10);
  tell(two_, 7, 10);
  EXPECT_THAT(completed(10, 40), DoubleNear(107, 0.01));
  EXPECT_THAT(completed(40, 60), DoubleEq(0));
  EXPECT_THAT(rates_.run_lately.percentile_ms(0.5), std::nullopt);
  ASSERT_EQ(roll_.last_hour().size(), 1u);
  EXPECT_EQ(roll_.last_hour()[0].tally.completed, 157);
}

TEST_F(FigureRoll, LeavesOutWhatWasDoneBeforeItBegan) {
  tell(one_, 1'000, 5);
  EXPECT_EQ(completed(10, 11), 0);
  tell(one_, 1'010, 10);
  EXPECT_THAT(completed(11, 40), DoubleNear(10, 0.01));
}

TEST_F(FigureRoll, CountsTheLastWordOfAWorkerThatIsGoneAndANewOneFromNothing) {
  completed(0, 5);
  tell(one_, 10, 5);
  EXPECT_THAT(completed(5, 20), DoubleNear(10, 0.01));
  tell(one_, 30, 20);
  completed(20, 21);
  told_.clear();
  EXPECT_THAT(completed(21, 60), DoubleNear(20 * 14.0 / 15, 0.01)) << "the rest of what it said";
  tell(two_, 5, 60);
  EXPECT_THAT(completed(60, 130), DoubleNear(5, 0.01));
  tell(one_, 30, 20);
  EXPECT_THAT(completed(130, 200), DoubleNear(0, 0.01)) << "it came back and had nothing new";
}

}  // namespace
}  // namespace holdfast::test
