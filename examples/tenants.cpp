// Many tenants share the workers: each gets its share and no more, what they all call is not called
// too often, and every night something is cleaned up.

#include <chrono>
#include <holdfast/holdfast.hpp>
#include <iostream>

using namespace std::chrono_literals;

struct Import {
  std::string file;
};
BOOST_DESCRIBE_STRUCT(Import, (), (file))

struct CleanUp {
  int days = 0;
};
BOOST_DESCRIBE_STRUCT(CleanUp, (), (days))

int main() {
  auto engine = holdfast::open("sqlite:tenants.db");
  holdfast::Tasks tasks{engine};
  tasks
      .on<Import>("import",
                  [](const Import& import, holdfast::Attempt&) {
                    std::cout << import.file + " is imported\n" << std::flush;
                    return holdfast::done;
                  })
      .on<CleanUp>("clean_up", [](const CleanUp&, holdfast::Attempt&) { return holdfast::done; });

  holdfast::Schedules schedules{engine};
  schedules.add({.name = "nightly",
                 .cron = "0 3 * * *",
                 .zone = "Europe/Berlin",
                 .task = {"clean_up", holdfast::to_payload(CleanUp{.days = 30})}});

  using enum holdfast::LimitScope;
  holdfast::Limits limits{engine};
  limits.set({.scope = key, .name = "*", .max_running = 1});
  limits.set({.scope = kind, .name = "import", .rate = holdfast::Rate{.tasks = 10, .period = 1s}});

  for (auto file : {"first.csv", "second.csv", "third.csv"})
    tasks.enqueue("import", Import{file}, {.limit_key = "tenant-7"});
  auto other = tasks.enqueue("import", Import{"other.csv"}, {.limit_key = "tenant-8"});

  holdfast::Inspector inspector{engine};
  std::cout << inspector.explain(other) << std::endl;
  holdfast::run(tasks, {.until_empty = true});
  for (const auto& schedule : schedules.list())
    std::cout << schedule.name << " goes on for ever" << std::endl;
}
