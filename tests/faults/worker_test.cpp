#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "engines/sqlite/side_files.hpp"
#include "faults/file_calls.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

/// A worker of this process, whose threads all see the same faults.
class WorkerOnABadDisk : public testing::Test {
 protected:
  WorkerOnABadDisk() {
    intercept_file_calls();
    engine_.emplace(open(store_.address()));
    tasks_.emplace(*engine_);
    tasks_->on_json("quick", [this](Attempt&) -> Outcome {
      ++started_;
      return done;
    });
    tasks_->on_json("slow", [this](Attempt& attempt) -> Outcome {
      ++started_;
      eventually([&] { return may_end_ || attempt.stop_token().stop_requested(); });
      return done;
    });
  }

  void enqueue(const std::string& kind, int count) {
    std::vector<NewTask> some(static_cast<std::size_t>(count), NewTask{kind, "{}"});
    tasks_->enqueue_all(some);
  }
  std::int64_t completed() const {
    return Inspector{*engine_}.count({.states = {TaskState::completed}});
  }
  /// As if an operator had acted: the worker looks whether running work is to stop.
  void wake_for_control() const {
    std::ofstream{sqlite::SideFiles{store_.database()}.control()} << '!';
  }

  TempStore store_;
  std::optional<Engine> engine_;
  std::optional<Tasks> tasks_;
  std::atomic<int> started_ = 0;
  std::atomic<bool> may_end_ = false;
};

TEST_F(WorkerOnABadDisk, WaitsForRoomAndThenGoesOn) {
  enqueue("slow", 1);
  enqueue("quick", 20);
  std::atomic<int> troubles = 0;
  engine_->events().subscribe([&](const Event& event) {
    if (std::holds_alternative<StoreTrouble>(event)) ++troubles;
  });
  Worker worker{*tasks_, {.concurrency = 2, .until_empty = true}};
  std::optional<WorkerSummary> summary;
  std::thread running{[&] { summary = worker.run(); }};
  ASSERT_TRUE(eventually([&] { return completed() == 20; }));

  fail_everywhere([](Call call, std::string_view) -> std::optional<Fault> {
    if (call == Call::write) return Fault{ENOSPC};
    return {};
  });
  wake_for_control();
  EXPECT_TRUE(eventually([&] { return troubles > 0; })) << "nobody noticed";
  may_end_ = true;
  EXPECT_TRUE(eventually([&] { return troubles > 2; })) << "it does not try again";
  fail_everywhere({});
  EXPECT_TRUE(eventually([&] { return completed() == 21; }, std::chrono::seconds{10}));
  running.join();
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->completed, 21);
}

TEST_F(WorkerOnABadDisk, EndsWhenASyncFailed) {
  enqueue("slow", 1);
  Worker worker{*tasks_, {.concurrency = 2}};
  std::exception_ptr end;
  std::thread running{[&] {
    try {
      worker.run();
    } catch (const StorageFailed&) {
      end = std::current_exception();
    }
  }};
  ASSERT_TRUE(eventually([&] { return started_ == 1; }));
  std::atomic<int> syncs = 0;
  fail_everywhere([&](Call call, std::string_view) -> std::optional<Fault> {
    if (call == Call::sync && ++syncs == 1) return Fault{EIO};
    return {};
  });
  may_end_ = true;
  running.join();
  EXPECT_TRUE(end);
  EXPECT_THROW(enqueue("quick", 1), StorageFailed);
  fail_everywhere({});
  EXPECT_EQ(syncs, 1) << "something was written after the failure";
}

}  // namespace
}  // namespace holdfast::test
