#include <gmock/gmock.h>

#include "contract/task_admin_contract.hpp"

namespace holdfast::test {

using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST_P(TaskAdminContract, FinishedTasksArePrunedByAge) {
  auto done = completed_task();
  auto failed = failed_task();
  clock().advance(hours{23});
  auto recent = completed_task();
  clock().advance(hours{2});
  auto unfinished = insert("a");
  EXPECT_EQ(admin().prune({.completed = hours{24}, .failed = hours{100}}), 1);
  EXPECT_THAT(ids({}), UnorderedElementsAre(failed, recent, unfinished));
  EXPECT_THAT(ids({.ids = {done}}), IsEmpty());
  clock().advance(hours{100});
  EXPECT_EQ(admin().prune({.completed = hours{1'000}, .failed = hours{100}}), 1);
  EXPECT_THAT(ids({}), UnorderedElementsAre(recent, unfinished));
}

TEST_P(TaskAdminContract, FinishedTasksArePrunedByCountOldestFirst) {
  completed_task();
  clock().advance(seconds{1});
  cancel(insert("a"));
  clock().advance(seconds{1});
  auto third = completed_task();
  auto unfinished = insert("a");
  EXPECT_EQ(admin().prune({.max_finished = 1}), 2);
  EXPECT_THAT(ids({}), UnorderedElementsAre(third, unfinished));
}

TEST_P(TaskAdminContract, DeadLettersGoLastWhereThereAreTooMany) {
  auto older = failed_task();
  clock().advance(seconds{1});
  auto newer = failed_task();
  clock().advance(seconds{1});
  completed_task();
  cancel(insert("a"));
  EXPECT_EQ(admin().prune({.max_finished = 2}), 2);
  EXPECT_THAT(ids({}), UnorderedElementsAre(older, newer));
  EXPECT_EQ(admin().prune({.max_finished = 1}), 1);
  EXPECT_THAT(ids({}), ElementsAre(newer));
}

TEST_P(TaskAdminContract, HistoryIsShedWhenTheStoreIsTooLarge) {
  for (int i = 0; i < 20; ++i) completed_task();
  auto unfinished = insert("a");
  EXPECT_EQ(admin().prune({.max_bytes = std::int64_t{1} << 40}), 0);
  EXPECT_EQ(admin().prune({.max_bytes = 1}), 20) << "all there is to shed";
  EXPECT_THAT(ids({}), ElementsAre(unfinished));
}

TEST_P(TaskAdminContract, DeadLetterThatOthersWaitForIsKept) {
  auto failed = failed_task();
  auto waiting = insert("a", {.after = {failed}});
  clock().advance(hours{10'000});
  EXPECT_EQ(admin().prune({.failed = hours{1}, .max_finished = 0}), 0);
  retry(failed);
  complete(claim_one(enlist()));
  EXPECT_EQ(state(waiting), TaskState::pending);
  EXPECT_EQ(admin().prune({.max_finished = 0}), 1);
}

TEST_P(TaskAdminContract, NothingOfAPrunedTaskIsLeft) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  std::vector<Note> notes{{claimed.lease, LogNote{"one", 1}},
                          {claimed.lease, EffectNote{"key", "value"}},
                          {claimed.lease, ProgressNote{0.5, "half"}}};
  tasks().record(notes);
  settle({.lease = claimed.lease, .to = TaskState::failed, .reason = "no", .attempt = 1});
  EXPECT_EQ(admin().prune({.max_finished = 0}), 1);
  EXPECT_THAT(admin().logs(id), IsEmpty());
  EXPECT_THAT(admin().recorded_history(id), IsEmpty());
  auto again = insert("a", {.id = id});
  auto second = claim_one(enlist());
  EXPECT_EQ(second.lease.id, again);
  EXPECT_DOUBLE_EQ(record(id).progress, 0);
  Note effect{second.lease, EffectNote{"key", "another"}};
  EXPECT_EQ(tasks().record(std::span{&effect, 1}).at(0).value, "another");
}

}  // namespace holdfast::test
