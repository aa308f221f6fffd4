#include "engines/redis/task_admin.hpp"

#include <algorithm>
#include <map>

#include "engines/redis/dependents.hpp"
#include "engines/redis/fresh_list.hpp"
#include "engines/redis/range.hpp"
#include "engines/redis/task_change.hpp"
#include "engines/redis/task_record.hpp"
#include "engines/redis/task_search.hpp"
#include "tasks/move_states.hpp"

namespace holdfast::redis {

namespace {

constexpr Store::KillPoints prune_points{KillPoint::prune_before_commit,
                                         KillPoint::prune_after_commit};
constexpr std::size_t moves_a_script = 200;
constexpr int pruned_a_script = 500;

std::int64_t used_memory(Store& store) {
  auto info = store.server.call({"INFO", "memory"});
  constexpr std::string_view name = "used_memory:";
  auto at = info.text().find(name);
  return at == std::string_view::npos ? 0 : parse_number(info.text().substr(at + name.size()));
}

/// Since when the one that has been ready longest in a lane is so.
std::optional<WallTime> oldest_ready(Store& store, const std::string& name, WallTime now) {
  std::optional<WallTime> oldest;
  auto consider = [&](WallTime since) {
    if (since <= now) oldest = std::min(oldest.value_or(since), since);
  };
  std::vector<Command> looks;
  for (auto index : {"ready:", "alone:"})
    for (std::int64_t priority = highest_priority; priority <= lowest_priority; ++priority)
      looks.push_back(
          {"ZRANGEBYSCORE", store.keys.key(index + name), std::to_string(priority * one_priority),
           "(" + std::to_string((priority + 1) * one_priority), "WITHSCORES", "LIMIT", "0", "1"});
  looks.push_back({"ZRANGE", store.keys.key("later:" + name), "0", "0", "WITHSCORES"});
  auto replies = store.server.call_all(looks);
  for (const auto& reply : replies)
    if (reply.size() == 2) consider(wall_time(reply[1].number() % one_priority));
  if (auto since = oldest_fresh(store, name)) consider(*since);
  return oldest;
}

}  // namespace

std::vector<TaskRecord> RedisTaskAdmin::search(const TaskFilter& filter, const TaskPage& page) {
  auto wanted = static_cast<std::size_t>(std::max(page.limit, 0));
  auto skip = static_cast<std::size_t>(std::max(page.offset, 0));
  std::vector<TaskId> on_page;
  if (wanted == 0) return {};
  TaskSearch search{store_, filter};
  auto after = page.after ? number_of(store_, *page.after) : std::nullopt;
  if (after) skip = 0;
  auto visit = [&](const std::vector<TaskId>& found) {
    auto passed = std::min(skip, found.size());
    skip -= passed;
    auto taken = std::min(found.size() - passed, wanted - on_page.size());
    auto first = found.begin() + static_cast<std::ptrdiff_t>(passed);
    on_page.insert(on_page.end(), first, first + static_cast<std::ptrdiff_t>(taken));
    return on_page.size() < wanted;
  };
  search.each(page.newest_first, visit, after, page.go_on);
  auto records = read_records(store_, on_page, page.longest_text);
  return records;
}

std::int64_t RedisTaskAdmin::count(const TaskFilter& filter, const std::function<bool()>& go_on) {
  return TaskSearch{store_, filter}.count(go_on);
}

std::vector<std::string> RedisTaskAdmin::paused() {
  auto reply = store_.server.call({"HKEYS", store_.keys.key("paused")});
  std::vector<std::string> queues;
  for (std::size_t i = 0; i < reply.size(); ++i) queues.push_back(reply[i].string());
  return queues;
}

std::vector<QueueStatus> RedisTaskAdmin::queues() {
  std::map<std::string, QueueStatus> queues;
  auto now = store_.clock().wall();
  for (const auto& lane : lane_counts(store_)) {
    auto& status = queues[lane.lane.queue];
    for (int state = 0; state < task_state_count; ++state)
      status.counts[state] += lane.counts[state];
    if (lane.counts[0] == 0) continue;
    if (auto since = oldest_ready(store_, lane.name, now))
      status.oldest_pending = std::min(status.oldest_pending.value_or(*since), *since);
  }
  for (const auto& name : paused()) queues[name].paused = true;
  std::vector<QueueStatus> list;
  for (auto& [name, status] : queues) {
    status.queue = name;
    bool anything =
        status.paused || std::ranges::any_of(status.counts, [](auto n) { return n > 0; });
    if (anything) list.push_back(std::move(status));
  }
  return list;
}

std::vector<RecordedTransition> RedisTaskAdmin::recorded_history(TaskId id, Stretch stretch) {
  auto rows = store_.server.call(range_of(store_.keys.key("h:" + id.text()), stretch));
  std::vector<RecordedTransition> history;
  for (std::size_t i = 0; i < rows.size(); ++i) history.push_back(parse_history(rows[i].text()));
  return history;
}

std::int64_t RedisTaskAdmin::recorded_steps(TaskId id) {
  return store_.server.call({"LLEN", store_.keys.key("h:" + id.text())}).number();
}

std::vector<LogLine> RedisTaskAdmin::logs(TaskId id, std::int64_t skip, int most) {
  auto rows = store_.server.call({"LRANGE", store_.keys.key("log:" + id.text()),
                                  std::to_string(skip), std::to_string(skip + most - 1)});
  std::vector<LogLine> lines;
  for (std::size_t i = 0; i < rows.size(); ++i) lines.push_back(parse_log(rows[i].text()));
  return lines;
}

/// Decides about each and sends what is to be done; returns those that have changed meanwhile.
std::vector<TaskId> RedisTaskAdmin::move_once(std::span<const TaskId> ids, const Move& move,
                                              std::int64_t& moved) {
  auto looked = look_at(store_, ids);
  std::vector<std::pair<std::string, TaskChange>> changes;
  for (const auto& task : looked) {
    if (!task) continue;
    if (auto change = lifecycle::move(task->row, move, when_written))
      changes.emplace_back(task->kind, std::move(*change));
  }
  std::vector<TaskId> again;
  if (changes.empty()) return again;
  auto arguments = store_.arguments();
  arguments.add(changes.size());
  for (const auto& [kind, change] : changes) {
    arguments.add(change.before.id.text());
    add(arguments, change, move.actor);
  }
  auto answer = store_.run(move_points, scripts::move, arguments);
  std::vector<TaskChanged> tell;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto& [kind, change] = changes[i];
    if (answer[0][i].number() == 0) {
      again.push_back(change.before.id);
      continue;
    }
    ++moved;
    if (change.to != change.before.state)
      tell.push_back(told(kind, change, wall_time(answer[2].number())));
  }
  std::ranges::move(end_dependents(store_, read_dependents(answer, answer[1]), all_dependents),
                    std::back_inserter(tell));
  if (!move.on_change) return again;
  for (const auto& one : tell) move.on_change(one.id, one.kind, one.transition);
  return again;
}

std::int64_t RedisTaskAdmin::move_some(std::span<const TaskId> ids, const Move& move) {
  std::int64_t moved = 0;
  std::vector<TaskId> left{ids.begin(), ids.end()};
  for (int round = 0; !left.empty(); ++round) {
    if (round == most_decisions)
      throw StoreError{"tasks change too quickly to be moved; try again"};
    left = move_once(left, move, moved);
  }
  return moved;
}

std::int64_t RedisTaskAdmin::move(const TaskFilter& filter, const Move& move) {
  auto wanted = filter;
  wanted.states = states_to_look_for(filter, move);
  if (wanted.states.empty()) return 0;
  // All are found first: moving some would change what the search walks through.
  std::vector<TaskId> ids;
  TaskSearch{store_, wanted}.each(false, [&](const std::vector<TaskId>& found) {
    ids.insert(ids.end(), found.begin(), found.end());
    return true;
  });
  std::int64_t moved = 0;
  for (std::span<const TaskId> rest{ids}; !rest.empty();) {
    auto some = rest.first(std::min(rest.size(), moves_a_script));
    rest = rest.subspan(some.size());
    moved += move_some(some, move);
  }
  return moved;
}

void RedisTaskAdmin::set_paused(const std::string& queue, bool paused, const std::string& actor) {
  store_.run(move_points, scripts::pause, store_.arguments().add(queue).add(paused).add(actor));
}

TaskAdmin::Pruned RedisTaskAdmin::prune(const Settings::Retention& retention, int limit) {
  bool too_large = retention.max_bytes > 0 && used_memory(store_) > retention.max_bytes;
  auto now = store_.clock().wall();
  auto arguments = store_.arguments();
  arguments.add(std::min(limit, pruned_a_script)).add(now - retention.completed);
  arguments.add(now - retention.failed).add(retention.max_finished).add(too_large);
  auto answer = store_.run(prune_points, scripts::prune, arguments);
  return {answer[0].number(), answer[1].number() == 1};
}

}  // namespace holdfast::redis
