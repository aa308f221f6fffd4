#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include <holdfast/holdfast.hpp>

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
/// as large as it may be.
TEST(Retention, StoreThatIsUsedWithoutAPauseStaysWithinItsBytes) {
  constexpr int total = 200'000, batch = 1'000, most_waiting = 10'000;
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
  auto waiting = [&] { return inspector.count({.states = {TaskState::pending}}); };
  std::uintmax_t largest = 0;
  for (int i = 0; i < total; i += batch) {
    tasks.enqueue_all(std::vector(batch, NewTask{"noop", payload}));
    if (i % (5 * batch) == 0) {
      ASSERT_TRUE(eventually([&] { return waiting() < most_waiting; })) << i;
    }
    largest = std::max(largest, std::filesystem::file_size(store.database()));
  }
  ASSERT_TRUE(eventually([&] { return waiting() == 0; }));
  EXPECT_LT(largest, 2 * budget) << "with what came between two looks";
  EXPECT_GT(inspector.count({.states = {TaskState::completed}}), 1'000) << "not more than needed";
}

}  // namespace
}  // namespace holdfast::test
