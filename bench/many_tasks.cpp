#include "many_tasks.hpp"

#include <fmt/format.h>

#include <holdfast/holdfast.hpp>

namespace holdfast::bench {

namespace {

constexpr std::int64_t at_once = 1'000;
constexpr int queues = 7, good_kinds = 8;

/// Of a hundred: 84 are done, 4 fail, 10 wait for a worker that nobody is, 2 are cancelled or held.
std::string kind_of(std::int64_t number) {
  const auto place = number % 100;
  if (place < 84) return fmt::format("good-{}", number % good_kinds);
  if (place < 88) return "bad";
  if (place < 98) return "waits";
  return place == 98 ? "cancelled" : "held";
}

NewTask task(std::int64_t number) {
  NewTask made{kind_of(number),
               fmt::format(R"({{"customer":{{"id":{0}}},"text":"task number {0}"}})", number)};
  made.options.queue = fmt::format("queue-{}", number % queues);
  made.options.priority = 1 + static_cast<int>(number % 5);
  made.options.max_attempts = 1;
  if (number % 10 == 0) made.options.tags = {"tenth"};
  return made;
}

}  // namespace

void fill(const Engine& engine, std::int64_t count) {
  Tasks tasks{engine};
  for (std::int64_t done = 0; done < count; done += at_once) {
    std::vector<NewTask> some;
    for (auto number = done; number < std::min(done + at_once, count); ++number)
      some.push_back(task(number));
    tasks.enqueue_all(std::move(some));
  }
  const auto waits = Inspector{engine}.tasks({.kind = "waits"}, {.limit = 1});
  std::vector<NewTask> blocked;
  for (std::int64_t i = 0; i < count / 1'000; ++i) {
    blocked.push_back(task(i));
    blocked.back().options.after = {waits.at(0).id};
  }
  if (!blocked.empty()) tasks.enqueue_all(std::move(blocked));
  Inspector{engine}.cancel({.kind = "cancelled"});
  Inspector{engine}.hold({.kind = "held"}, "held for a benchmark");
  for (int kind = 0; kind < good_kinds; ++kind)
    tasks.on_json(fmt::format("good-{}", kind), [](Attempt&) -> Outcome { return done; });
  tasks.on_json("bad", [](Attempt&) -> Outcome { return fail("no route to host"); });
  Worker{tasks, {.concurrency = 2, .until_empty = true}}.run();
}

}  // namespace holdfast::bench
