#include "contract/task_admin_contract.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>

namespace holdfast::test {

using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TaskAdminContract);

std::vector<TaskId> TaskAdminContract::ids(const TaskFilter& filter, const TaskPage& page) {
  std::vector<TaskId> found;
  for (const auto& record : admin().search(filter, page)) found.push_back(record.id);
  return found;
}

std::int64_t TaskAdminContract::cancel(TaskId id) {
  return admin().move({.ids = {id}}, {.to = TaskState::cancelled,
                                      .from = {TaskState::pending, TaskState::blocked,
                                               TaskState::held, TaskState::failed},
                                      .ask_running = true,
                                      .actor = "operator",
                                      .reason = "cancelled by an operator"});
}

std::int64_t TaskAdminContract::force_cancel(TaskId id) {
  return admin().move({.ids = {id}}, {.to = TaskState::cancelled,
                                      .from = {TaskState::running},
                                      .actor = "operator",
                                      .reason = "taken from its worker"});
}

std::int64_t TaskAdminContract::retry(TaskId id) {
  return admin().move({.ids = {id}},
                      {.to = TaskState::pending,
                       .from = {TaskState::failed, TaskState::held, TaskState::cancelled},
                       .fresh_attempts = true,
                       .actor = "operator",
                       .reason = "retried by an operator"});
}

std::int64_t TaskAdminContract::hold(TaskId id, const std::string& cause) {
  return admin().move({.ids = {id}}, {.to = TaskState::held,
                                      .from = {TaskState::pending, TaskState::blocked},
                                      .actor = "operator",
                                      .reason = cause});
}

TaskId TaskAdminContract::failed_task(TaskOptions options) {
  auto id = insert("a", std::move(options));
  auto claimed = claim_one(enlist());
  if (claimed.lease.id != id) throw std::runtime_error{"claimed another task"};
  settle({.lease = claimed.lease,
          .to = TaskState::failed,
          .reason = "it does not work",
          .attempt = claimed.attempt});
  return id;
}

TaskId TaskAdminContract::completed_task() {
  auto id = insert("a");
  complete(claim_one(enlist()));
  return id;
}

QueueStatus TaskAdminContract::queue(const std::string& name) {
  for (const auto& status : admin().queues())
    if (status.queue == name) return status;
  throw std::runtime_error{"no such queue: " + name};
}

TEST_P(TaskAdminContract, SearchShowsTheWholeTask) {
  auto first = insert("a");
  auto id = insert("b",
                   {.queue = "mail",
                    .priority = 2,
                    .delay = seconds{5},
                    .max_attempts = 7,
                    .timeout = seconds{9},
                    .unique_key = "key",
                    .tags = {"red", "blue"},
                    .after = {first}},
                   R"({"to":"ada"})");
  auto shown = record(id);
  EXPECT_EQ(shown.kind, "b");
  EXPECT_EQ(shown.queue, "mail");
  EXPECT_EQ(shown.state, TaskState::blocked);
  EXPECT_EQ(shown.priority, 2);
  EXPECT_EQ(shown.max_attempts, 7);
  EXPECT_EQ(shown.timeout, seconds{9});
  EXPECT_EQ(shown.unique_key, "key");
  EXPECT_THAT(shown.tags, ElementsAre("red", "blue"));
  EXPECT_THAT(shown.waits_for, ElementsAre(first));
  EXPECT_EQ(shown.payload, R"({"to":"ada"})");
  EXPECT_EQ(shown.created_at, clock().wall());
  EXPECT_EQ(shown.run_at, clock().wall() + seconds{5});
}

TEST_P(TaskAdminContract, SearchShowsARunningTaskWithItsWorkerAndProgress) {
  auto id = insert("a");
  auto worker = enlist();
  auto claimed = claim_one(worker);
  Note note{claimed.lease, ProgressNote{0.5, "half way"}};
  tasks().record(std::span{&note, 1});
  auto shown = record(id);
  EXPECT_EQ(shown.worker, worker);
  EXPECT_EQ(shown.token, claimed.lease.token);
  EXPECT_EQ(shown.claimed_at, clock().wall());
  EXPECT_EQ(shown.attempt, 1);
  EXPECT_DOUBLE_EQ(shown.progress, 0.5);
  EXPECT_EQ(shown.progress_text, "half way");
}

TEST_P(TaskAdminContract, EachFieldOfTheFilterNarrows) {
  auto plain = insert("a");
  clock().advance(seconds{10});
  auto later = clock().wall();
  auto mail = insert("b", {.queue = "mail", .priority = 1, .tags = {"red"}});
  auto tagged = insert("a", {.tags = {"reddish", "blue"}});
  EXPECT_THAT(ids({}), ElementsAre(tagged, mail, plain));
  EXPECT_THAT(ids({.queue = "mail"}), ElementsAre(mail));
  EXPECT_THAT(ids({.kind = "a"}), ElementsAre(tagged, plain));
  EXPECT_THAT(ids({.queue = "mail", .kind = "a"}), IsEmpty());
  EXPECT_THAT(ids({.tag = "red"}), ElementsAre(mail));
  EXPECT_THAT(ids({.priority = 1}), ElementsAre(mail));
  EXPECT_THAT(ids({.created_since = later}), ElementsAre(tagged, mail));
  EXPECT_THAT(ids({.ids = {plain, mail, TaskId::make()}}), ElementsAre(mail, plain));
  EXPECT_THAT(ids({.queue = "mail", .ids = {plain, mail}}), ElementsAre(mail));
  EXPECT_THAT(ids({.queue = "no such queue"}), IsEmpty());
  EXPECT_EQ(admin().count({.kind = "a"}), 2);
  EXPECT_EQ(admin().count({}), 3);
}

TEST_P(TaskAdminContract, StatesAreFoundAndCounted) {
  auto done = completed_task();
  auto failed = failed_task();
  auto pending = insert("a");
  auto waiting = insert("a", {.after = {pending}});
  EXPECT_THAT(ids({.states = {TaskState::completed}}), ElementsAre(done));
  EXPECT_THAT(ids({.states = {TaskState::failed, TaskState::blocked}}),
              ElementsAre(waiting, failed));
  EXPECT_THAT(ids({.states = {TaskState::held}}), IsEmpty());
  EXPECT_THAT(ids({.states = {TaskState::failed}, .ids = {done}}), IsEmpty());
  EXPECT_EQ(admin().count({.states = {TaskState::completed, TaskState::failed}}), 2);
  EXPECT_EQ(admin().count({.states = {TaskState::blocked}, .kind = "b"}), 0);
}

TEST_P(TaskAdminContract, PagesCoverEverythingOnceInEitherDirection) {
  std::vector<NewTask> many(1'300, NewTask{"a", "{}"});
  for (auto& task : many) task.options.tags = {"one"};
  std::vector<TaskId> all;
  for (const auto& one : tasks().insert(many)) all.push_back(one.id);
  for (bool newest_first : {false, true}) {
    std::vector<TaskId> seen;
    for (int offset = 0; offset < 1'400; offset += 400)
      for (auto id : ids({.tag = "one"}, {400, offset, newest_first})) seen.push_back(id);
    auto expected = all;
    if (newest_first) std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(seen, expected);
  }
  EXPECT_THAT(ids({}, {.limit = 0}), IsEmpty());
}

TEST_P(TaskAdminContract, PausedQueueIsShownEvenIfItIsEmpty) {
  admin().set_paused("night", true, "operator");
  admin().set_paused("night", true, "somebody else");
  EXPECT_TRUE(queue("night").paused);
  insert("a", {.queue = "night"});
  EXPECT_THAT(claim(enlist()), IsEmpty());
  admin().set_paused("night", false, "operator");
  EXPECT_FALSE(queue("night").paused);
  EXPECT_EQ(claim(enlist()).size(), 1u);
}

TEST_P(TaskAdminContract, QueuesAreCountedByState) {
  completed_task();
  failed_task();
  auto oldest = clock().wall();
  auto first = insert("a");
  clock().advance(seconds{5});
  insert("b", {.priority = 1});
  insert("a", {.delay = hours{1}});
  insert("a", {.after = {first}});
  insert("a", {.queue = "mail", .delay = hours{1}});
  auto status = queue("default");
  EXPECT_THAT(status.counts, ElementsAre(3, 0, 1, 1, 0, 1, 0));
  EXPECT_EQ(status.oldest_pending, oldest);
  EXPECT_THAT(queue("mail").counts, ElementsAre(1, 0, 0, 0, 0, 0, 0));
  EXPECT_FALSE(queue("mail").oldest_pending) << "it is not ready yet";
  claim(enlist());
  EXPECT_THAT(queue("default").counts, ElementsAre(2, 1, 1, 1, 0, 1, 0));
}

TEST_P(TaskAdminContract, LogsAreShownInOrder) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  std::vector<Note> notes{{claimed.lease, LogNote{"one", 1}}, {claimed.lease, LogNote{"two", 1}}};
  tasks().record(notes);
  auto lines = admin().logs(id);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].text, "one");
  EXPECT_EQ(lines[1].text, "two");
  EXPECT_EQ(lines[1].attempt, 1);
  ASSERT_EQ(admin().logs(id, 0, 1).size(), 1u);
  EXPECT_EQ(admin().logs(id, 0, 1).front().text, "one");
  ASSERT_EQ(admin().logs(id, 1, 100).size(), 1u);
  EXPECT_EQ(admin().logs(id, 1, 100).front().text, "two");
  EXPECT_THAT(admin().logs(id, 2, 100), IsEmpty());
}

TEST_P(TaskAdminContract, PagesGoOnBehindATaskWhateverComesIn) {
  std::vector<TaskId> made;
  for (int i = 0; i < 5; ++i) made.push_back(insert("a"));
  EXPECT_THAT(ids({}, {.limit = 2, .after = made[3]}), ElementsAre(made[2], made[1]));
  EXPECT_THAT(ids({}, {.newest_first = false, .after = made[2]}), ElementsAre(made[3], made[4]));
  insert("a");
  EXPECT_THAT(ids({}, {.limit = 2, .offset = 4, .after = made[3]}), ElementsAre(made[2], made[1]))
      << "it is there, so the offset does not count";
  EXPECT_THAT(ids({.states = {TaskState::pending}}, {.after = made[1]}), ElementsAre(made[0]));
}

TEST_P(TaskAdminContract, LongTextsAreCutWhereAPageAsksForThat) {
  const std::string payload = '"' + std::string(5'000, 'x') + '"';
  const auto id = insert("a", {.tags = {"t"}}, payload);
  auto cut = admin().search({}, {.longest_text = 100}).at(0);
  EXPECT_EQ(cut.payload, payload.substr(0, 100));
  EXPECT_EQ(cut.payload_bytes, payload.size());
  EXPECT_THAT(cut.tags, ElementsAre("t"));
  auto whole = admin().search({.ids = {id}}, {}).at(0);
  EXPECT_EQ(whole.payload, payload);
  EXPECT_EQ(whole.payload_bytes, payload.size());
  EXPECT_EQ(whole.result_bytes, 0u);
}

TEST_P(TaskAdminContract, LongResultsAreCutWithoutBreakingACharacter) {
  std::string result = "\"";
  while (result.size() < 5'000) result += "\u00e4";
  result += '"';
  const auto id = insert("a");
  settle({.lease = claim_one(enlist()).lease, .result = result, .attempt = 1});
  auto cut = admin().search({}, {.longest_text = 100}).at(0);
  EXPECT_EQ(cut.result_bytes, result.size());
  ASSERT_THAT(cut.result, testing::SizeIs(testing::Gt(0u)));
  EXPECT_TRUE(result.starts_with(cut.result));
  EXPECT_EQ(cut.result.size() % 2, 1u) << "a quote and whole characters";
  EXPECT_EQ(admin().search({.ids = {id}}, {}).at(0).result, result);
}

TEST_P(TaskAdminContract, CountsAreTrueThroughAMixedLife) {
  const auto worker = enlist();
  for (int i = 0; i < 4; ++i) insert("a", {.queue = "mail"});
  for (int i = 0; i < 3; ++i) insert("b", {.queue = "mail", .limit_key = "acme"});
  const auto first = insert("c", {.priority = 0});
  const auto second = insert("c", {.after = {first}});
  insert("c", {.after = {second}});
  expect_true_counts();
  complete(claim_one(worker));
  for (const auto& each : claim(worker, 2))
    settle({.lease = each.lease, .to = TaskState::failed, .reason = "no", .attempt = 1});
  const auto stopped = claim_one(worker);
  ask_to_stop(stopped.lease.id);
  settle({.lease = stopped.lease, .to = TaskState::pending, .reason = "again", .attempt = 1});
  expect_true_counts();
  claim(worker, 2);
  die_and_be_buried(worker);
  std::vector<Verdict> verdicts;
  for (const auto& orphan : tasks().orphans(10))
    verdicts.push_back(
        {.lease = orphan.lease, .to = TaskState::pending, .reason = "died", .cause = {}});
  ASSERT_EQ(verdicts.size(), 2u);
  tasks().reclaim(verdicts, report());
  expect_true_counts();
  hold(insert("a", {.queue = "mail"}), "wait");
  EXPECT_EQ(
      admin().move({.states = {TaskState::failed}, .queue = "mail"}, {.to = TaskState::pending,
                                                                      .from = {TaskState::failed},
                                                                      .fresh_attempts = true,
                                                                      .actor = "operator",
                                                                      .reason = "again"}),
      2);
  cancel(second);
  expect_true_counts();
  EXPECT_EQ(admin().count({.states = {TaskState::held}, .queue = "mail"}), 1);
  EXPECT_EQ(admin().count({.kind = "b"}), 3);
  EXPECT_EQ(admin().count({.states = {TaskState::cancelled}}), 3);
  reopen();
  expect_true_counts();
  EXPECT_GT(admin().prune({.max_finished = 1}), 0);
  EXPECT_EQ(admin().count({.states = {TaskState::completed, TaskState::cancelled}}), 1);
}

TEST_P(TaskAdminContract, ALookAtTasksThatDoNotFitEndsWhenItIsEnough) {
  std::vector<TaskId> made;
  std::vector<NewTask> many;
  for (int i = 0; i < 5'000; ++i) many.push_back({.kind = "a", .payload = "{}"});
  for (const auto& one : tasks().insert(many)) made.push_back(one.id);
  std::optional<TaskId> stopped;
  TaskPage page{.newest_first = false};
  page.go_on = [&](TaskId last) {
    stopped = last;
    return false;
  };
  EXPECT_THAT(ids({.tag = "none"}, page), IsEmpty());
  ASSERT_TRUE(stopped);
  const auto place = std::ranges::find(made, *stopped) - made.begin();
  EXPECT_LT(place, 4'500) << "it went on";
  int asked = 0;
  page.after = stopped;
  page.go_on = [&](TaskId last) {
    EXPECT_GT(std::ranges::find(made, last) - made.begin(), place);
    return ++asked < 1'000;
  };
  EXPECT_THAT(ids({.tag = "none"}, page), IsEmpty());
  EXPECT_LT(asked, 1'000) << "it ends";
}

}  // namespace holdfast::test
