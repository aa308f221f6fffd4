#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "engines/sqlite/connection.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

/// A worker that works beside the test, until this is gone.
class WorkingBeside {
 public:
  explicit WorkingBeside(const Tasks& tasks) : worker_{tasks, {.concurrency = 2}} {}
  ~WorkingBeside() { worker_.drain(); }

 private:
  Worker worker_;
  std::jthread thread_{[this] { worker_.run(); }};
};

/// What was done must make room for what is to come. Without that the file would be several times
/// as large as it may be. More comes only once there is room, however slow the machine is.
TEST(Retention, StoreInSteadyUseStaysWithinItsBytes) {
  constexpr int total = 100'000, batch = 5'000;
  constexpr std::int64_t budget = 12'000'000;
  const std::string payload = '"' + std::string(200, 'x') + '"';
  TempStore store;
  Settings settings;
  settings.retention.max_bytes = budget;
  settings.durability = Durability::crash_safe;
  auto engine = open(store.address(), settings);
  Tasks tasks{engine};
  tasks.on_json("noop", [](Attempt&) { return done; });
  Inspector inspector{engine};
  WorkingBeside worker{tasks};
  sqlite::Connection db{store.database(), sqlite::Connection::Mode::read_only, {}};
  auto bytes_in_use = [&] {
    return (db.number("PRAGMA page_count") - db.number("PRAGMA freelist_count")) *
           db.number("PRAGMA page_size");
  };
  auto count = [&](TaskState state) { return inspector.count({.states = {state}}); };
  for (int i = 0; i < total; i += batch) {
    tasks.enqueue_all(std::vector(batch, NewTask{"noop", payload}));
    ASSERT_TRUE(eventually([&] {
      return count(TaskState::pending) == 0 && bytes_in_use() <= budget;
    })) << "after "
        << i;
    ASSERT_LT(std::filesystem::file_size(store.database()), 2 * budget) << "after " << i;
  }
  EXPECT_GT(count(TaskState::completed), budget / 1'000) << "not more is removed than needed";
}

}  // namespace
}  // namespace holdfast::test
