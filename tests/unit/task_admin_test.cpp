#include "tasks/task_admin.hpp"

#include <gmock/gmock.h>

#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/engine.hpp"
#include "support/temp_store.hpp"

namespace holdfast::sqlite {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

/// More tasks than one search looks at in a read, many of them finished in the same moment.
class ManyTasks : public testing::Test {
 protected:
  ManyTasks() {
    Connection db{folder_.database(), Connection::Mode::read_write, Durability::crash_safe};
    db.execute(
        "INSERT INTO holdfast_lanes (lane, queue, kind, key, sum) VALUES (1, 'one', 'a', '', 0),"
        " (2, 'two', 'a', '', 0)");
    fill(
        "SELECT randomblob(16), 1 + (n % 3 = 0), iif(n % 15000 = 0, 3, 2), 3, n, n / 1000, n, 3,"
        " 1000, iif(n % 20000 = 0, '[\"rare\"]', NULL), '{}', 0 FROM numbers",
        45'000);
  }
  /// Inserts so many tasks past the engine; `select` makes the columns of a task out of a number.
  void fill(const std::string& select, int count) {
    Connection db{folder_.database(), Connection::Mode::read_write, Durability::crash_safe};
    db.execute(
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < " +
        std::to_string(count) +
        ") INSERT INTO holdfast_tasks (id, lane, state, priority, run_at, finished_at, created_at,"
        " max_attempts, timeout, tags, payload, suspect) " +
        select);
    recount(db);
  }
  TaskAdmin& admin() { return engine_->admin(); }

  static Settings quick() {
    Settings settings;
    settings.durability = Durability::crash_safe;
    return settings;
  }

  test::TempStore folder_;
  std::shared_ptr<EngineParts> engine_ = open_store(folder_.database(), quick());
};

TEST_F(ManyTasks, AreCountedExactly) {
  EXPECT_EQ(admin().count({}), 45'000);
  EXPECT_EQ(admin().count({.states = {TaskState::completed}}), 44'997);
  EXPECT_EQ(admin().count({.states = {TaskState::completed}, .queue = "two"}), 14'997);
  EXPECT_EQ(admin().count({.tag = "rare"}), 2);
}

TEST_F(ManyTasks, AreCountedByQueue) {
  auto queues = admin().queues();
  ASSERT_THAT(queues, SizeIs(2));
  EXPECT_THAT(queues[0].counts, ElementsAre(0, 0, 30'000, 0, 0, 0, 0));
  EXPECT_THAT(queues[1].counts, ElementsAre(0, 0, 14'997, 3, 0, 0, 0));
}

TEST_F(ManyTasks, RareOnesAreFoundFarBack) {
  EXPECT_THAT(admin().search({.tag = "rare"}, {}), SizeIs(2));
  EXPECT_THAT(admin().search({.states = {TaskState::failed}}, {}), SizeIs(3));
}

TEST_F(ManyTasks, ArePrunedByAgeAndThenByNumber) {
  constexpr std::chrono::hours hour{1}, century{876'000};
  EXPECT_EQ(admin().prune({.completed = century, .failed = century, .max_finished = 44'000}),
            1'000);
  EXPECT_EQ(admin().prune({.completed = hour, .failed = century, .max_finished = 1}), 43'999);
  EXPECT_EQ(admin().count({.states = {TaskState::failed}}), 1);
}

TEST_F(ManyTasks, ThatAreNotFinishedAreCountedByQueue) {
  fill(
      "SELECT randomblob(16), 1 + (n % 3 = 0), iif(n % 9 = 0, 5, iif(n % 9 = 1, 6, 0)),"
      " 2 + n % 2, iif(n % 2, 0, n), NULL, n, 3, 1000, NULL, '{}', n % 1000 = 8 FROM numbers",
      90'000);
  auto queues = admin().queues();
  ASSERT_THAT(queues, SizeIs(2));
  EXPECT_THAT(queues[0].counts, ElementsAre(50'000, 0, 30'000, 0, 0, 0, 10'000));
  EXPECT_THAT(queues[1].counts, ElementsAre(20'000, 0, 14'997, 3, 0, 10'000, 0));
  EXPECT_EQ(queues[0].oldest_pending, WallTime{Millis{2}});
  EXPECT_EQ(admin().count({.states = {TaskState::pending}}), 70'000);
}

TEST_F(ManyTasks, ArePrunedOnlySoManyAtATime) {
  fill("SELECT randomblob(16), 1, 2, 3, 0, n, n, 3, 1000, NULL, '{}', 0 FROM numbers", 60'000);
  EXPECT_EQ(admin().prune({.completed = std::chrono::hours{1}}), 100'000);
  EXPECT_EQ(admin().prune({.completed = std::chrono::hours{1}}), 5'000);
}

}  // namespace
}  // namespace holdfast::sqlite
