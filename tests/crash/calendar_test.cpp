#include <map>
#include <random>

#include <holdfast/schedule.hpp>

#include "crash/crash_test.hpp"
#include "recovery/clock.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

/// Two workers on a clock on which a minute takes 50 ms.
class Calendar : public CrashTest {
 protected:
  static constexpr int speed = 1'200;
  static constexpr int kills = 40;

  Process start_worker(const Environment& extra = {}) {
    auto since = std::to_string(origin_.time_since_epoch().count());
    return start("calendar", {"since=" + since, "speed=" + std::to_string(speed), "crashes=1000"},
                 extra);
  }
  /// The tasks that somebody says to have enqueued, and how often.
  std::map<TaskId, int> fired() const {
    std::map<TaskId, int> times;
    for (const auto& line : said())
      if (line.said == Said::enqueued) ++times[line.task];
    return times;
  }
  std::vector<TaskRecord> ticks() const {
    return Inspector{open_store()}.tasks({.tag = "schedule-tick"},
                                         {.limit = 100'000, .newest_first = false});
  }

  WallTime origin_ = system_clock().wall();
};

TEST_F(Calendar, EveryMinuteIsFiredOnceByOneOfTwoWorkersThatAreKilledAgainAndAgain) {
  std::mt19937 random{std::random_device{}()};
  const char* points[] = {"", "schedule_before_commit:3", "schedule_after_commit:3"};
  std::vector<Process> workers;
  for (int i = 0; i < 2; ++i) workers.push_back(start_worker());
  ASSERT_TRUE(eventually([&] { return !fired().empty(); }));
  for (int kill = 0; kill < kills; ++kill) {
    auto seen = fired().size();
    ASSERT_TRUE(eventually([&] {
      // Those with a kill point end by themselves.
      for (auto& worker : workers)
        if (!worker.running()) worker = start_worker();
      return fired().size() > seen;
    })) << "nobody fires any more";
    auto& victim = workers[random() % 2];
    victim.kill();
    std::string point = points[random() % 3];
    Environment extra;
    if (!point.empty()) extra.emplace_back("HOLDFAST_KILL_AT", point);
    victim = start_worker(extra);
  }
  for (auto& worker : workers) worker = start_worker();
  auto enough = fired().size() + 20;
  ASSERT_TRUE(eventually([&] { return fired().size() > enough; }));
  for (auto& worker : workers) worker.kill();

  auto found = ticks();
  std::map<WallTime, int> minutes;
  for (const auto& task : found) ++minutes[scheduled_time(task.id)];
  auto first = minutes.begin()->first, last = minutes.rbegin()->first;
  EXPECT_EQ(static_cast<std::int64_t>(minutes.size()), (last - first) / 1min + 1)
      << "some minutes are missing";
  EXPECT_EQ(found.size(), minutes.size()) << "some minutes were fired twice";
  for (const auto& [id, times] : fired()) EXPECT_EQ(times, 1) << id.text();
}

}  // namespace
}  // namespace holdfast::test
