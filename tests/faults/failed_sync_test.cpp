#include <gmock/gmock.h>

#include <string>

#include <holdfast/inspector.hpp>

#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

constexpr int storage_failed = 5;

/// The real program, and the real files; only syncs fail.
class FailedSync : public testing::Test {
 protected:
  Finished holdfast(std::vector<std::string> arguments, int failing_sync = 0) const {
    arguments.insert(arguments.begin(), {HOLDFAST_PROGRAM, "--store", store_.address()});
    if (failing_sync == 0) return run(arguments);
    return run(arguments, {{"LD_PRELOAD", FAILING_SYNC},
                           {"HOLDFAST_FAIL_SYNC", std::to_string(failing_sync)}});
  }
  int add(int count) const {
    auto added = holdfast({"task", "add", "work", "{}", "--count", std::to_string(count)});
    EXPECT_TRUE(added.ending.ok()) << added.err;
    return count;
  }
  std::int64_t count(TaskState state) const {
    return Inspector{open(store_.address())}.count({.states = {state}});
  }

  TempStore store_;
};

TEST_F(FailedSync, EndsTheWorkerAndTheNextOneTakesOver) {
  const std::vector<std::string> work{"worker", "run",           "--kind",        "work", "--exec",
                                      "true",   "--until-empty", "--concurrency", "2"};
  int acknowledged = 0, ended = 0;
  for (int n = 1;; ++n) {
    ASSERT_LT(n, 60) << "the worker syncs without end";
    acknowledged += add(3);
    auto worker = holdfast(work, n);
    if (worker.ending.code == 0) break;
    ++ended;
    ASSERT_EQ(worker.ending.code, storage_failed) << "sync " << n << "\n" << worker.err;
    EXPECT_THAT(worker.err, HasSubstr("the storage failed"));
    EXPECT_THAT(worker.err, HasSubstr("start again"));
  }
  EXPECT_GE(ended, 3) << "a worker enlists, claims and settles at least";
  EXPECT_EQ(count(TaskState::completed), acknowledged);
}

TEST_F(FailedSync, OfTheFolderIsNotIgnoredWhereAStoreIsMade) {
  const Environment failing{{"LD_PRELOAD", FAILING_SYNC}, {"HOLDFAST_FAIL_FOLDER_SYNC", "1"}};
  auto added = run({HOLDFAST_PROGRAM, "--store", store_.address(), "task", "add", "work"}, failing);
  EXPECT_EQ(added.ending.code, storage_failed) << added.err;
  EXPECT_EQ(added.out, "") << "an id was printed";
  EXPECT_THAT(added.err, HasSubstr("its folder was synced"));
  add(1);
}

TEST_F(FailedSync, AcknowledgesNothingToAClient) {
  int acknowledged = add(1);
  bool refused = false;
  for (int n = 1; n < 20; ++n) {
    auto added = holdfast({"task", "add", "work", "{}"}, n);
    if (added.ending.code == 0) {
      ++acknowledged;
      continue;
    }
    refused = true;
    EXPECT_EQ(added.ending.code, storage_failed) << added.err;
    EXPECT_THAT(added.err, HasSubstr("the storage failed"));
    EXPECT_EQ(added.out, "") << "an id was printed";
  }
  EXPECT_TRUE(refused);
  EXPECT_GE(count(TaskState::pending), acknowledged);
}

}  // namespace
}  // namespace holdfast::test
