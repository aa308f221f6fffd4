#include <gmock/gmock.h>

#include <mutex>

#include <fmt/format.h>

#include <holdfast/holdfast.hpp>

#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// Everything that was heard of tasks, as "kind: from -> to".
class TaskEvents : public testing::Test {
 protected:
  TaskEvents() {
    engine_.events().subscribe([this](const Event& event) {
      const auto* changed = std::get_if<TaskChanged>(&event);
      if (!changed) return;
      std::lock_guard lock{mutex_};
      changes_.push_back(*changed);
    });
  }

  std::vector<std::string> heard() {
    std::lock_guard lock{mutex_};
    std::vector<std::string> all;
    for (const auto& [id, kind, step, name] : std::exchange(changes_, {})) {
      auto from = step.from ? to_string(*step.from) : "new";
      all.push_back(fmt::format("{}: {} -> {}", kind, from, to_string(step.to)));
    }
    return all;
  }

  TempStore store_;
  Engine engine_{open(store_.address())};
  Tasks tasks_{engine_};
  Inspector inspector_{engine_, "operator/ada"};
  std::mutex mutex_;
  std::vector<TaskChanged> changes_;
};

TEST_F(TaskEvents, NameTheKindOfWhatAWorkerSettles) {
  tasks_.on_json("resize", [](Attempt&) { return done; });
  tasks_.on_json("mail", [](Attempt&) { return fail("no such address"); });
  tasks_.on_json("lost", [](Attempt& attempt) {
    attempt.then("mail", 1, {.after = {TaskId::make()}});
    return done;
  });
  for (const char* kind : {"resize", "mail", "lost"}) tasks_.enqueue(kind, 1);
  EXPECT_THAT(heard(), ElementsAre("resize: new -> pending", "mail: new -> pending",
                                   "lost: new -> pending"));
  Worker{tasks_, {.concurrency = 1, .until_empty = true}}.run();
  EXPECT_THAT(heard(),
              UnorderedElementsAre("resize: pending -> running", "resize: running -> completed",
                                   "mail: pending -> running", "mail: running -> failed",
                                   "lost: pending -> running", "lost: running -> failed"));
}

TEST_F(TaskEvents, TellWhatASettlementLeadsTo) {
  tasks_.on_json("resize", [](Attempt& attempt) {
    attempt.then("thumbnail", 1);
    return done;
  });
  auto first = tasks_.enqueue("resize", 1, {.unique_key = "cat"});
  EXPECT_EQ(tasks_.enqueue("resize", 1, {.unique_key = "cat"}), first) << "not new, not told";
  tasks_.enqueue("mail", 1, {.after = {first}});
  EXPECT_THAT(heard(), ElementsAre("resize: new -> pending", "mail: new -> blocked"));
  Worker{tasks_, {.concurrency = 1, .until_empty = true}}.run();
  EXPECT_THAT(heard(),
              UnorderedElementsAre("resize: pending -> running", "resize: running -> completed",
                                   "thumbnail: new -> pending", "mail: blocked -> pending"));
}

TEST_F(TaskEvents, TellWhatBecameOfATaskInsteadOfWhatWasAsked) {
  tasks_.on_json("resize", [&](Attempt& attempt) -> Outcome {
    inspector_.cancel({.ids = {attempt.task()}});
    return retry_in(std::chrono::hours{1}, "busy");
  });
  auto first = tasks_.enqueue("resize", 1);
  tasks_.enqueue("mail", 1, {.after = {first}});
  heard();
  Worker{tasks_, {.concurrency = 1, .until_empty = true}}.run();
  EXPECT_THAT(heard(),
              UnorderedElementsAre("resize: pending -> running", "resize: running -> cancelled",
                                   "mail: blocked -> cancelled"));
}

TEST_F(TaskEvents, TellWhatOperatorsDo) {
  auto first = tasks_.enqueue("resize", 1);
  auto second = tasks_.enqueue("mail", 1, {.after = {first}});
  tasks_.enqueue("report", 1, {.after = {second}});
  heard();
  inspector_.hold({.ids = {first}}, "not yet");
  EXPECT_EQ(changes_.at(0).transition.reason, "not yet");
  EXPECT_EQ(changes_.at(0).transition.actor, "operator/ada");
  EXPECT_THAT(heard(), ElementsAre("resize: pending -> held"));
  inspector_.cancel({.ids = {first}});
  EXPECT_THAT(changes_.at(1).transition.reason, HasSubstr(first.text()));
  EXPECT_THAT(heard(), ElementsAre("resize: held -> cancelled", "mail: blocked -> cancelled",
                                   "report: blocked -> cancelled"));
  inspector_.retry({.ids = {first}});
  EXPECT_THAT(heard(), ElementsAre("resize: cancelled -> pending"));
  inspector_.retry({.ids = {first}});
  EXPECT_THAT(heard(), IsEmpty());
}

}  // namespace
}  // namespace holdfast::test
