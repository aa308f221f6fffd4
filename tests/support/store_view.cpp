#include "support/oracle.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::test {

StoreView view_store(const Engine& engine) {
  StoreView view;
  Inspector inspector{engine};
  TaskPage page{.limit = 1'000, .offset = 0, .newest_first = false};
  for (;;) {
    auto tasks = inspector.tasks({}, page);
    view.tasks.insert(view.tasks.end(), tasks.begin(), tasks.end());
    if (static_cast<int>(tasks.size()) < page.limit) break;
    page.offset += page.limit;
  }
  for (const auto& task : view.tasks) {
    auto& steps = view.history[task.id];
    for (const auto& row : engine.parts().admin().recorded_history(task.id))
      steps.push_back(row.transition);
  }
  view.reports = inspector.reports(10'000);
  view.reports_were_shed =
      inspector.recovery_totals().recoveries > static_cast<std::int64_t>(view.reports.size());
  view.refused = inspector.stale_writes_refused();
  view.queues = inspector.queues();
  return view;
}

}  // namespace holdfast::test
