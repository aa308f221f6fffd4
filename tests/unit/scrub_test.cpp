#include "engines/sqlite/scrub.hpp"

#include <sqlite3.h>

#include <filesystem>

#include <gmock/gmock.h>

#include "engines/sqlite/engine.hpp"
#include "support/temp_store.hpp"

namespace holdfast::sqlite {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class ScrubTest : public testing::Test {
 protected:
  void add(int count) const {
    std::vector<NewTask> tasks;
    for (int i = 0; i < count; ++i) tasks.push_back({"mail", {"{}"}, {}});
    open()->tasks().insert(tasks);
  }

  /// Start-up would see some of what the tests do here.
  std::shared_ptr<EngineParts> open() const {
    Settings settings;
    settings.recovery.integrity_check_on_startup = false;
    return open_store(folder_.database(), settings);
  }

  /// What nobody should do.
  void meddle(const char* sql) const {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(folder_.database().c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }

  IntegrityResult pass() const {
    auto engine = open();
    for (int steps = 0; steps < 1'000; ++steps)
      if (auto result = engine->scrub()) return *result;
    ADD_FAILURE() << "does not come to an end";
    return {};
  }

  bool is_suspect() const {
    return std::filesystem::exists(SideFiles::named(folder_.database()).suspect());
  }

  test::TempStore folder_;
};

TEST_F(ScrubTest, GoesThroughEverything) {
  add(1'234);
  auto result = pass();
  EXPECT_TRUE(result.passed);
  EXPECT_TRUE(result.completed);
  EXPECT_EQ(result.rows_checked, 1'234);
  EXPECT_FALSE(is_suspect());
}

TEST_F(ScrubTest, IsDoneByOneProcessAtATimeAndOnceADay) {
  add(3);
  auto engine = open_store(folder_.database(), {}), other = open_store(folder_.database(), {});
  EXPECT_FALSE(engine->scrub()) << "the rows";
  EXPECT_FALSE(other->scrub());
  EXPECT_TRUE(engine->scrub()) << "and their end";
  EXPECT_FALSE(other->scrub());
  EXPECT_FALSE(engine->scrub());
}

TEST_F(ScrubTest, SeesARowThatIsNotWhatWasWritten) {
  add(10);
  meddle("UPDATE holdfast_tasks SET priority = 1 WHERE seq = 7");
  auto result = pass();
  EXPECT_FALSE(result.passed);
  ASSERT_THAT(result.damage, SizeIs(1));
  EXPECT_EQ(result.damage[0].kind, Damage::Kind::row);
  EXPECT_TRUE(result.damage[0].task);
  EXPECT_TRUE(is_suspect()) << "the next start-up looks at everything";
}

TEST_F(ScrubTest, GoesOnBehindWhatIsDamaged) {
  add(2'000);
  meddle("UPDATE holdfast_tasks SET priority = 1 WHERE seq IN (7, 1900)");
  auto engine = open();
  std::vector<IntegrityResult> told;
  for (int steps = 0; steps < 1'000 && (told.empty() || !told.back().completed); ++steps)
    if (auto result = engine->scrub()) told.push_back(*result);
  ASSERT_THAT(told, SizeIs(3));
  EXPECT_THAT(told[0].damage, SizeIs(1)) << "at once";
  EXPECT_THAT(told[1].damage, SizeIs(1));
  EXPECT_FALSE(told[2].passed);
  EXPECT_THAT(to_text(IntegrityChecked{told[2]}), HasSubstr("no more damage"));
}

TEST_F(ScrubTest, LeavesAloneWhatAPersonWasTold) {
  add(10);
  meddle("UPDATE holdfast_tasks SET payload = '[]' WHERE seq = 7");
  open_store(folder_.database(), {});
  EXPECT_TRUE(pass().passed) << "it is held";
}

TEST_F(ScrubTest, SeesARowThatAnIndexDoesNotKnow) {
  add(5);
  meddle(
      "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = replace(sql, 'state = 0',"
      " 'state = 77') WHERE name = 'holdfast_ready'");
  add(1);
  meddle(
      "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = replace(sql, 'state = 77',"
      " 'state = 0') WHERE name = 'holdfast_ready'");
  auto result = pass();
  ASSERT_THAT(result.damage, SizeIs(1));
  EXPECT_EQ(result.damage[0].kind, Damage::Kind::index);
  EXPECT_THAT(result.damage[0].what, HasSubstr("holdfast_ready"));
}

/// What waits for what, changed behind the back of an index: which of the two is true, nobody can
/// tell.
class WrongDependency : public ScrubTest {
 protected:
  void SetUp() override {
    auto engine = open();
    auto& tasks = engine->tasks();
    NewTask first{"mail", "{}", {.delay = std::chrono::hours{10}, .id = first_}};
    NewTask other{"mail", "{}", {.delay = std::chrono::hours{10}, .id = other_}};
    tasks.insert(std::array{first, other});
    tasks.insert(std::array{NewTask{"mail", "{}", {.after = {first_}, .id = waiting_}}});
  }
  void point_elsewhere() const {
    meddle(
        "CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE name = 'holdfast_blocked_by';"
        "PRAGMA writable_schema=ON; DELETE FROM sqlite_schema WHERE name = 'holdfast_blocked_by'");
    meddle("UPDATE holdfast_blocks SET on_seq = 2");
    meddle(
        "PRAGMA writable_schema=ON; INSERT INTO sqlite_schema SELECT * FROM kept;"
        "DELETE FROM sqlite_schema WHERE name = 'kept'");
  }
  TaskId first_ = TaskId::make(), other_ = TaskId::make(), waiting_ = TaskId::make();
};

TEST_F(WrongDependency, IsSeenWhileTheStoreIsUsed) {
  point_elsewhere();
  auto result = pass();
  EXPECT_FALSE(result.passed);
  ASSERT_THAT(result.damage, SizeIs(2));
  EXPECT_THAT(result.damage[0].what, HasSubstr("holdfast_blocked_by"));
}

TEST_F(WrongDependency, HoldsWhatWaitsInsteadOfBelievingTheTable) {
  point_elsewhere();
  auto engine = open_store(folder_.database(), {});
  auto tasks = engine->admin().search({.ids = {waiting_}}, {});
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].state, TaskState::held) << tasks[0].cause;
}

}  // namespace
}  // namespace holdfast::sqlite
