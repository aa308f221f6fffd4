#include <gmock/gmock.h>

#include <optional>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "engines/sqlite/side_files.hpp"
#include "recovery/child_lock.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

TEST(EarlierAttempt, ThatStillRunsPutsTheNextOffWithoutACharge) {
  TempStore store;
  auto engine = open(store.address());
  Tasks tasks{engine};
  tasks.on_json("resize", [](Attempt& attempt) {
    attempt.child_lock();
    return done;
  });
  auto id = tasks.enqueue("resize", 1, {.max_attempts = 1});
  std::optional earlier{take_child_lock(sqlite::SideFiles{store.database()}, id)};
  Worker worker{tasks, {.concurrency = 1}};
  std::jthread running{[&] { worker.run(); }};
  Inspector inspector{engine};
  ASSERT_TRUE(eventually([&] { return !inspector.logs(id).empty(); }));
  EXPECT_THAT(inspector.logs(id).front().text, HasSubstr("earlier attempt"));
  earlier.reset();
  EXPECT_TRUE(eventually([&] { return inspector.task(id)->state == TaskState::completed; }))
      << inspector.explain(id);
  EXPECT_EQ(inspector.task(id)->attempt, 1);
  worker.drain();
}

/// As after a sleep of ten minutes between the claim and the start of a program.
TEST(EarlierAttempt, TaskThatIsNotHeldAnyMoreStartsNoProcess) {
  TempStore store;
  auto engine = open(store.address());
  Tasks tasks{engine};
  bool refused = false;
  tasks.on_json("resize", [&](Attempt& attempt) {
    Inspector{engine}.cancel({.ids = {attempt.task()}}, true);
    EXPECT_THROW(attempt.child_lock(), LeaseLost);
    refused = true;
    return done;
  });
  auto id = tasks.enqueue("resize", 1);
  Worker{tasks, {.concurrency = 1, .until_empty = true}}.run();
  EXPECT_TRUE(refused);
  EXPECT_EQ(Inspector{engine}.task(id)->state, TaskState::cancelled);
}

}  // namespace
}  // namespace holdfast::test
