#include "server/limited_enqueue.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <holdfast/inspector.hpp>

#include "server/limiting_token.hpp"
#include "server/problem.hpp"

namespace holdfast::server {

namespace {

constexpr std::string_view token_tag = "token-";
constexpr int ids_at_once = 1'000;

bool is_for(const ProgramToken& token, const TaskRecord& task) {
  return token.allows_kind(task.kind) && token.allows_queue(task.queue);
}

/// Of these, what the token is for.
std::set<TaskId> known_to(const ProgramToken& token, const std::vector<TaskId>& ids,
                          const Inspector& inspector) {
  std::set<TaskId> known;
  for (std::size_t from = 0; from < ids.size(); from += ids_at_once) {
    const auto count = std::min<std::size_t>(ids.size() - from, ids_at_once);
    TaskFilter some;
    some.ids.assign(ids.begin() + static_cast<std::ptrdiff_t>(from),
                    ids.begin() + static_cast<std::ptrdiff_t>(from + count));
    for (const auto& task : inspector.tasks(some, {.limit = ids_at_once, .longest_text = 0}))
      if (is_for(token, task)) known.insert(task.id);
  }
  return known;
}

void check_dependencies(const ProgramToken& token, const std::vector<NewTask>& tasks,
                        const Inspector& inspector) {
  std::set<TaskId> asked, made;
  for (const auto& task : tasks) {
    asked.insert(task.options.after.begin(), task.options.after.end());
    if (task.options.id) made.insert(*task.options.id);
  }
  // One of the same request may be waited for: an Idempotency-Key names them beforehand.
  std::erase_if(asked, [&](const TaskId& id) { return made.contains(id); });
  const auto known = known_to(token, {asked.begin(), asked.end()}, inspector);
  for (const auto& id : asked)
    if (!known.contains(id))
      throw invalid(fmt::format("there is no task {} that the token '{}' may wait for", id.text(),
                                token.name));
}

/// Unique keys count in the whole store.
void check_unique(const ProgramToken& token, const std::vector<TaskId>& wanted,
                  const std::vector<TaskId>& got, const Inspector& inspector) {
  std::set<TaskId> others;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != wanted[i]) others.insert(got[i]);
  const auto known = known_to(token, {others.begin(), others.end()}, inspector);
  const auto strange = std::ranges::count_if(
      got, [&](const TaskId& id) { return others.contains(id) && !known.contains(id); });
  if (strange == 0) return;
  throw Problem{409, "unique_key_taken",
                fmt::format("of {} tasks, {} had the unique_key of an unfinished task that the "
                            "token '{}' is not for, and were not enqueued; the others were",
                            got.size(), strange, token.name)};
}

}  // namespace

void authorize(const ProgramToken& token, const std::vector<NewTask>& tasks) {
  for (const auto& [kind, payload, options] : tasks) {
    if (!token.allows_kind(kind)) throw not_allowed(token, "kind", kind);
    if (!token.allows_queue(options.queue)) throw not_allowed(token, "queue", options.queue);
    // An id that is taken tells about the payload of its task, and those of others can be guessed
    // from their Idempotency-Key.
    if (options.id)
      throw Problem{403, "forbidden",
                    "a token with the scope enqueue cannot choose ids; send an Idempotency-Key to "
                    "be able to repeat the request"};
  }
}

std::string key_for(const std::string& key, const NewTask& first) {
  const auto& queue = first.options.queue;
  return fmt::format("{}:{} {}:{} {}", queue.size(), queue, first.kind.size(), first.kind, key);
}

std::vector<TaskId> enqueue_limited(const ProgramToken& token, std::vector<NewTask> tasks,
                                    const Engine& engine, Quotas& quotas,
                                    const EnqueueAll& enqueue_all) {
  const Inspector inspector{engine};
  check_dependencies(token, tasks, inspector);
  std::vector<TaskId> wanted;
  for (auto& task : tasks) {
    if (!task.options.id) task.options.id = TaskId::make();
    wanted.push_back(*task.options.id);
  }
  const auto taken = quotas.take(token, engine, tasks.size());
  auto got = enqueue_all(engine, std::move(tasks));
  if (taken) taken->keep();
  check_unique(token, wanted, got, inspector);
  return got;
}

void expect_no_token_tags(const std::vector<NewTask>& tasks) {
  for (const auto& task : tasks)
    for (const auto& tag : task.options.tags)
      if (tag.starts_with(token_tag))
        throw Problem{403, "forbidden",
                      fmt::format("the tag '{}' is not allowed: the server adds tags that begin "
                                  "with '{}', to say which token enqueued a task",
                                  tag, token_tag)};
}

void add_token_tag(const ProgramToken& token, std::vector<NewTask>& tasks) {
  for (auto& task : tasks) task.options.tags.push_back(fmt::format("{}{}", token_tag, token.name));
}

}  // namespace holdfast::server
