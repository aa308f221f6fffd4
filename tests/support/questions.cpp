#include "support/questions.hpp"

#include <holdfast/holdfast.hpp>

#include "tasks/engine_parts.hpp"

namespace holdfast::test {

void fill_with_tasks(const Engine& engine) {
  Tasks tasks{engine};
  tasks.on_json("good", [](Attempt&) -> Outcome { return done; });
  tasks.on_json("bad", [](Attempt&) -> Outcome { return fail("bad"); });
  for (const auto* kind : {"good", "bad", "waits"}) tasks.enqueue(kind, 1, {.tags = {"tag"}});
  Worker{tasks, {.until_empty = true}}.run();
}

void ask_every_question(const Engine& engine) {
  const Inspector inspector{engine};
  const auto first = inspector.tasks({}, {.limit = 1}).at(0).id;
  for (const auto& filter : {TaskFilter{}, TaskFilter{.states = {TaskState::failed}},
                             TaskFilter{.states = {TaskState::completed, TaskState::pending}},
                             TaskFilter{.queue = "default"}, TaskFilter{.kind = "good"},
                             TaskFilter{.tag = "tag"}, TaskFilter{.priority = 3},
                             TaskFilter{.created_since = WallTime{}}, TaskFilter{.ids = {first}}}) {
    TaskPage page{.longest_text = 10};
    page.go_on = [](TaskId) { return true; };
    inspector.tasks(filter, page);
    page.after = first;
    inspector.tasks(filter, page);
    inspector.count_within(filter, std::chrono::minutes{1});
  }
  inspector.queues();
  inspector.workers();
  inspector.reports(20);
  inspector.explain(first);
  inspector.history(first);
  inspector.logs(first);
  engine.parts().limits().list();
  engine.parts().schedules().list();
  engine.parts().workers().figures(std::chrono::hours{1});
}

}  // namespace holdfast::test
