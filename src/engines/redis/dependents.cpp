#include "engines/redis/dependents.hpp"

#include <algorithm>

#include "recovery/actors.hpp"

namespace holdfast::redis {

namespace {

constexpr Store::KillPoints dependents_points{KillPoint::dependents_before_commit,
                                              KillPoint::dependents_after_commit};

/// Tells them. Returns what became of them, and leaves in `dependents` who is next.
std::vector<TaskChanged> tell(Store& store, Dependents& dependents) {
  std::vector<std::optional<TaskChange>> changes;
  auto arguments = store.arguments();
  arguments.add(dependents.tasks.size());
  for (const auto& [found, ended] : dependents.tasks) {
    arguments.add(found.row.id.text()).add(ended.size());
    for (const auto& end : ended) arguments.add(end.id.text());
    const auto& change = changes.emplace_back(lifecycle::after_end(ended, found.row, when_written));
    arguments.add(change.has_value());
    if (change)
      add(arguments, *change, change->history.value().transition.actor);
    else
      add(arguments, found.row);
  }
  const auto answer = store.run(dependents_points, scripts::after_end, arguments);
  std::vector<TaskChanged> all;
  for (std::size_t i = 0; i < changes.size(); ++i)
    if (changes[i] && answer[0][i].number() == 1)
      all.push_back(
          told(dependents.tasks[i].found.kind, *changes[i], wall_time(answer[2].number())));
  dependents = read_dependents(answer, answer[1]);
  return all;
}

}  // namespace

Dependents read_dependents(const Reply& answer, const Value& list) {
  constexpr std::size_t values_an_end = 3;
  std::vector<EndedTask> ends;
  for (std::size_t i = 0; i + values_an_end <= list[0].size(); i += values_an_end) {
    const auto actor = list[0][i + 2].text();
    ends.push_back({TaskId::parse(list[0][i].text()).value_or(TaskId{}),
                    static_cast<TaskState>(list[0][i + 1].number()),
                    actor.empty() ? actors::dependency : actor});
  }
  Dependents dependents{.answer = answer};
  for (std::size_t i = 0; i < list[1].size(); ++i) {
    const auto one = list[1][i];
    auto found = read_looked(TaskId::parse(one[0].text()).value_or(TaskId{}), one[1]);
    if (!found) continue;
    auto& task = dependents.tasks.emplace_back(Dependents::Task{std::move(*found)});
    for (std::size_t j = 0; j < one[2].size(); ++j)
      task.ended.push_back(ends.at(static_cast<std::size_t>(one[2][j].number())));
  }
  return dependents;
}

Dependents find_dependents(Store& store) {
  const auto answer = store.run(scripts::after_end, store.arguments().add(0));
  return read_dependents(answer, answer[1]);
}

std::vector<TaskChanged> end_dependents(Store& store, Dependents dependents, std::size_t most) {
  std::vector<TaskChanged> all;
  std::size_t seen = 0;
  while (!dependents.tasks.empty() && seen < most) {
    seen += dependents.tasks.size();
    std::ranges::move(tell(store, dependents), std::back_inserter(all));
  }
  // Workers that have nothing to do continue it.
  if (!dependents.tasks.empty()) store.server.call({"PUBLISH", store.keys.news(), "work"});
  return all;
}

}  // namespace holdfast::redis
