#include <csignal>
#include <fstream>

#include "crash/crash_test.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::test {
namespace {

/// How to get to a kill point: what must be there, and what the driver is to do.
struct Scene {
  std::string mode;
  std::vector<std::string> words{};
  std::vector<std::string> orders{};  ///< enqueued before, with these words
  bool worked_off = false;            ///< and done before
  bool with_corpse = false;           ///< and held by a worker that died
  bool with_flipped_bit = false;      ///< and damaged in the log
  bool with_schedule = false;         ///< a schedule is due
  bool again = true;                  ///< the point can be reached a second time
  Expectations expectations{};
};

bool begins(std::string_view name, std::string_view with) {
  return name.substr(0, with.size()) == with;
}

Scene scene_for(std::string_view point) {
  std::vector<std::string> orders{"count=20", "batch=10", "ms=30", "attempts=100"};
  if (begins(point, "schema") || begins(point, "made"))
    return {.mode = "enqueue", .words = {"count=5"}, .again = false};
  if (begins(point, "enqueue")) return {.mode = "enqueue", .words = {"count=5"}};
  // 25 MB are more than the log of the store may hold before it is copied into the file.
  if (begins(point, "checkpoint"))
    return {.mode = "enqueue", .words = {"count=100", "batch=50", "padding=250000"}};
  if (begins(point, "renew"))
    return {.mode = "work", .words = {"until_empty=1", "interval=50"}, .orders = orders};
  if (begins(point, "dependents"))
    return {.mode = "work",
            .words = {"until_empty=1"},
            .orders = {"count=20", "batch=10", "ms=10", "attempts=100", "after_first=1"}};
  if (begins(point, "child"))
    return {.mode = "work_programs", .words = {"until_empty=1"}, .orders = {"kind=program"}};
  if (begins(point, "schedule")) return {.mode = "fire", .with_schedule = true};
  if (begins(point, "limit")) return {.mode = "limit", .orders = orders};
  if (begins(point, "history")) return {.mode = "history", .orders = orders};
  if (begins(point, "own_complete"))
    return {.mode = "work_own",
            .words = {"until_empty=1"},
            .orders = {"kind=own", "count=8", "attempts=100"}};
  if (begins(point, "move")) return {.mode = "cancel", .orders = orders};
  if (begins(point, "prune"))
    return {.mode = "prune",
            .words = {"forget=1"},
            .orders = orders,
            .worked_off = true,
            .expectations = {.may_be_pruned = true}};
  if (begins(point, "backup") || begins(point, "replace"))
    return {.mode = "restore", .orders = orders};
  for (auto part : {"bury", "reclaim", "clear", "report"})
    if (begins(point, part)) return {.mode = "recover", .orders = orders, .with_corpse = true};
  for (auto part : {"evidence", "mend"})
    if (begins(point, part)) return {.mode = "recover", .orders = orders, .with_flipped_bit = true};
  for (auto part : {"start_up", "close"})
    if (begins(point, part)) return {.mode = "enqueue", .words = {"count=5"}, .orders = orders};
  return {.mode = "work", .words = {"until_empty=1"}, .orders = orders};
}

/// In a frame of the first commit of the log.
void flip_a_bit(const std::string& log) {
  std::fstream file{log, std::ios::binary | std::ios::in | std::ios::out};
  constexpr std::streamoff place = 32 + 24 + 2000;
  file.seekg(place);
  auto byte = static_cast<char>(file.get() ^ 0x04);
  file.seekp(place);
  file.put(byte);
}

/// Dies at one named place. A place that no run reaches fails the test, so a new kill point needs
/// its scene.
class KillPoints : public CrashTest, public testing::WithParamInterface<std::string_view> {
 protected:
  void set(const Scene& scene) {
    if (scene.with_schedule) finish("plan");
    if (scene.orders.empty()) return;
    auto first = enqueue(10, scene.orders).at(0);
    if (scene.worked_off) work_it_off();
    if (scene.with_flipped_bit) flip_a_bit(store_.database() + "-wal");
    if (!scene.with_corpse) return;
    auto worker = start("work");
    ASSERT_TRUE(comes_to(Said::started, first));
    worker.kill();
  }

  void die(const Scene& scene) {
    auto victim = start(scene.mode, scene.words, {{"HOLDFAST_KILL_AT", std::string{GetParam()}}});
    auto ending = victim.wait();
    ASSERT_TRUE(ending) << "hangs";
    ASSERT_EQ(ending->signal, SIGKILL)
        << GetParam() << " was not reached by '" << scene.mode << "'\n"
        << victim.err();
  }

  void go_on(const Scene& scene) {
    finish(scene.mode, scene.words);
    work_it_off();
    expect_clean(scene.expectations);
  }
};

TEST_P(KillPoints, DyingThereLosesNothing) {
  auto scene = scene_for(GetParam());
  ASSERT_NO_FATAL_FAILURE(set(scene));
  ASSERT_NO_FATAL_FAILURE(die(scene));
  go_on(scene);
}

TEST_P(KillPoints, DyingThereTwiceInARowLosesNothing) {
  auto scene = scene_for(GetParam());
  ASSERT_NO_FATAL_FAILURE(set(scene));
  ASSERT_NO_FATAL_FAILURE(die(scene));
  if (scene.again) {
    ASSERT_NO_FATAL_FAILURE(set(scene));
    ASSERT_NO_FATAL_FAILURE(die(scene));
  }
  go_on(scene);
}

INSTANTIATE_TEST_SUITE_P(Every, KillPoints, testing::ValuesIn(kill_points_of_engine()),
                         [](const auto& point) { return std::string{point.param}; });

}  // namespace
}  // namespace holdfast::test
