#include <gtest/gtest.h>

#include <fmt/format.h>

#include <holdfast/holdfast.hpp>

#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

TEST(WorkerNotes, QuickTasksLoseNoLogLineAndNoneIsTakenForStale) {
  constexpr int rounds = 20;
  constexpr int tasks_each = 200;
  constexpr int lines_each = 5;
  TempStore store;
  auto engine = open(store.address() + "?durability=crash-safe");
  Tasks tasks{engine};
  tasks.on<int>("chatter", [](int, Attempt& attempt) {
    for (int line = 1; line <= lines_each; ++line) attempt.log(fmt::format("line {}", line));
    return done;
  });
  Inspector inspector{engine};
  // Whether a line is late is a matter of who is faster at the start of a worker, so it starts
  // often.
  for (int round = 0; round < rounds; ++round) {
    auto ids = tasks.enqueue_all(std::vector(tasks_each, NewTask{"chatter", "1"}));
    Worker{tasks, {.concurrency = 4, .until_empty = true}}.run();
    for (auto id : ids) ASSERT_EQ(inspector.logs(id).size(), lines_each) << "round " << round;
  }
  EXPECT_EQ(inspector.stale_writes_refused(), 0);
}

TEST(WorkerNotes, ALongLineIsCutBetweenCharacters) {
  TempStore store;
  auto engine = open(store.address());
  Tasks tasks{engine};
  tasks.on<int>("chatter", [](int, Attempt& attempt) {
    std::string line = "x";
    for (int i = 0; i < 3'000; ++i) line += "\xc3\xa9";  // é
    attempt.log(line);
    return done;
  });
  auto id = tasks.enqueue("chatter", 1);
  Worker{tasks, {.until_empty = true}}.run();
  auto lines = Inspector{engine}.logs(id);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines.front().text.size(), 4'095u);
  EXPECT_EQ(lines.front().text.back(), '\xa9');
}

TEST(WorkerNotes, TheLastLineThatIsKeptSaysThatThereWereMore) {
  TempStore store;
  Settings settings;
  settings.limits.log_lines_per_attempt = 3;
  auto engine = open(store.address(), settings);
  Tasks tasks{engine};
  tasks.on<int>("chatter", [](int, Attempt& attempt) {
    for (int line = 1; line <= 5; ++line) attempt.log(fmt::format("line {}", line));
    return done;
  });
  auto id = tasks.enqueue("chatter", 1);
  Worker{tasks, {.until_empty = true}}.run();
  auto lines = Inspector{engine}.logs(id);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1].text, "line 2");
  EXPECT_EQ(lines[2].text, "(3 lines are enough: the rest is not kept)");
}

}  // namespace
}  // namespace holdfast::test
