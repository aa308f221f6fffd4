#include "engines/redis/task_store.hpp"

#include <fmt/format.h>

#include "tasks/enqueue_rules.hpp"
#include "tasks/task_transfer.hpp"

namespace holdfast::redis {

namespace {

constexpr Store::KillPoints enqueue_points{KillPoint::enqueue_before_commit,
                                           KillPoint::enqueue_after_commit};
constexpr Store::KillPoints record_points{KillPoint::record_before_commit,
                                          KillPoint::record_after_commit};

struct AddNote {
  Arguments& to;
  void operator()(const ProgressNote& note) const {
    to.add(std::string{"progress"}).add(fmt::format("{}", note.fraction)).add(note.text);
  }
  void operator()(const LogNote& note) const {
    to.add(std::string{"log"}).add(note.attempt).add(note.line);
  }
  void operator()(const EffectNote& note) const {
    to.add(std::string{"effect"}).add(note.key).add(note.value);
  }
};

}  // namespace

void expect_valid(const Value& answer, std::string_view store) {
  auto what = answer[0].text();
  if (what == "ok") return;
  auto id = answer[1].text();
  if (what == "moved") refuse_because_moved(store, id);
  if (what == "unknown") refuse_unknown_prerequisite(id);
  if (what == "cancelled") refuse_cancelled_prerequisite(id);
  refuse_other_task(id);
}

std::vector<Inserted> read_inserted(std::span<const TaskId> ids, const Value& others) {
  std::vector<Inserted> inserted;
  inserted.reserve(ids.size());
  for (auto id : ids) inserted.push_back({id});
  for (std::size_t i = 0; i + 2 < others.size(); i += 3) {
    auto& one = inserted.at(static_cast<std::size_t>(others[i].number()));
    one.id = TaskId::parse(others[i + 1].text()).value_or(TaskId{});
    one.created = !others[i + 2].text().empty();
    if (one.created) one.state = static_cast<TaskState>(others[i + 2].number());
  }
  return inserted;
}

std::vector<Inserted> RedisTaskStore::insert(std::span<const NewTask> tasks) {
  if (tasks.empty()) return {};
  auto arguments = store_.arguments();
  std::vector<const NewTask*> all;
  all.reserve(tasks.size());
  for (const auto& task : tasks) all.push_back(&task);
  auto ids = add_tasks(arguments, all);
  auto answer = store_.run(enqueue_points, scripts::insert, arguments);
  expect_valid(answer, store_.server.address().name());
  return read_inserted(ids, answer[1]);
}

std::vector<Recorded> RedisTaskStore::record(std::span<const Note> notes) {
  auto arguments = store_.arguments();
  arguments.add(notes.size());
  for (const auto& note : notes) {
    arguments.add(note.lease);
    std::visit(AddNote{arguments}, note.what);
  }
  auto answer = store_.run(record_points, scripts::record, arguments);
  std::vector<Recorded> recorded;
  for (std::size_t i = 0; i + 1 < answer.size(); i += 2)
    recorded.push_back({answer[i].number() == 1, answer[i + 1].string()});
  return recorded;
}

std::optional<WallTime> RedisTaskStore::next_due(const ClaimRequest& claim) {
  auto answer =
      store_.run(scripts::next_due, store_.arguments().add(claim.queues).add(claim.kinds));
  if (answer.text().empty()) return {};
  return wall_time(answer.number());
}

}  // namespace holdfast::redis
