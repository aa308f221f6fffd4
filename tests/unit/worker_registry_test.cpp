#include "recovery/worker_registry.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "engines/sqlite/engine.hpp"
#include "recovery/board.hpp"
#include "support/temp_store.hpp"

namespace holdfast::sqlite {
namespace {

class SqliteWorkers : public testing::Test {
 protected:
  WorkerRegistry& workers() { return engine_->workers(); }
  bool has_file(WorkerId id) const { return std::filesystem::exists(files_.worker(id)); }

  test::TempStore folder_;
  std::shared_ptr<EngineParts> engine_ = open_store(folder_.database(), {});
  SideFiles files_{folder_.database()};
};

TEST_F(SqliteWorkers, FileOfAWorkerThatDiedBeforeItWasRegisteredIsRemoved) {
  auto dead = WorkerId::make(), alive = WorkerId::make();
  { Board board{files_, dead, 1}; }
  Board about_to_register{files_, alive, 1};
  workers().look();
  EXPECT_FALSE(has_file(dead));
  EXPECT_TRUE(has_file(alive));
}

TEST_F(SqliteWorkers, FileThatAGoodbyeDidNotReachIsRemovedLater) {
  auto enlistment = workers().enlist({{}, {"a"}, 1, Millis{90'000}});
  auto id = enlistment->id();
  auto copy = files_.worker(id) + "-copy";
  std::filesystem::copy_file(files_.worker(id), copy);
  workers().retire(id);
  EXPECT_FALSE(has_file(id));
  std::filesystem::rename(copy, files_.worker(id));
  workers().look();
  EXPECT_FALSE(has_file(id));
}

TEST_F(SqliteWorkers, FileOfADeadWorkerStaysUntilItIsCleared) {
  auto enlistment = workers().enlist({{}, {"a"}, 1, Millis{90'000}});
  auto id = enlistment->id();
  enlistment.reset();
  ASSERT_EQ(workers().look().size(), 1u);
  ASSERT_TRUE(workers().bury(workers().look().front(), {ReportId::make()}));
  EXPECT_TRUE(has_file(id));
  EXPECT_TRUE(workers().clear(id));
  EXPECT_FALSE(has_file(id));
}

TEST_F(SqliteWorkers, LinkToTheDatabaseLeadsToTheSameWorkers) {
  auto link = folder_.folder() / "link.db";
  std::filesystem::create_symlink(folder_.database(), link);
  EXPECT_EQ(SideFiles{link}.folder(), files_.folder());
}

}  // namespace
}  // namespace holdfast::sqlite
