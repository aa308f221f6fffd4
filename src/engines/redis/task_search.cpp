#include "engines/redis/task_search.hpp"

#include <algorithm>

#include "tasks/transitions.hpp"

namespace holdfast::redis {

namespace {

constexpr std::size_t first_window = 200;
constexpr std::size_t largest_window = 2'000;
/// Up to so many tasks of the wanted states, it is cheaper to take them from their indexes.
constexpr std::int64_t few_tasks = 10'000;

const Command fields{"s", "l", "o"};

}  // namespace

std::vector<LaneCounts> lane_counts(Store& store) {
  std::array commands{Command{"HGETALL", store.keys.key("counts")},
                      Command{"HGETALL", store.keys.key("running")}};
  auto replies = store.server.call_all(commands);
  std::map<std::string, LaneCounts, std::less<>> lanes;
  auto add = [&](std::string_view name, std::int64_t state, std::int64_t count) {
    if (state >= 0 && state < task_state_count) lanes[std::string{name}].counts[state] = count;
  };
  const auto& counts = replies[0];
  for (std::size_t i = 0; i + 1 < counts.size(); i += 2) {
    auto field = counts[i].text();
    auto end = field.rfind(separator);
    if (end == std::string_view::npos) continue;
    add(field.substr(0, end), parse_number(field.substr(end + 1)), counts[i + 1].number());
  }
  const auto& running = replies[1];
  for (std::size_t i = 0; i + 1 < running.size(); i += 2)
    add(running[i].text(), static_cast<int>(TaskState::running), running[i + 1].number());
  std::vector<LaneCounts> all;
  for (auto& [name, found] : lanes) {
    found.name = name;
    found.lane = parse_lane(name);
    all.push_back(std::move(found));
  }
  return all;
}

TaskSearch::TaskSearch(Store& store, const TaskFilter& filter) : store_{store}, filter_{filter} {
  if (!filter.ids.empty()) return;
  lanes_ = lane_counts(store);
  std::erase_if(lanes_, [&](const LaneCounts& each) {
    return (!filter.queue.empty() && each.lane.queue != filter.queue) ||
           (!filter.kind.empty() && each.lane.kind != filter.kind);
  });
}

bool TaskSearch::state_is_wanted(TaskState state) const {
  return filter_.states.empty() || std::ranges::count(filter_.states, state) > 0;
}

bool TaskSearch::counts_say_it() const {
  return filter_.ids.empty() && filter_.tag.empty() && !filter_.priority && !filter_.created_since;
}

std::int64_t TaskSearch::count() {
  std::int64_t total = 0;
  if (counts_say_it()) {
    for (const auto& lane : lanes_)
      for (int state = 0; state < task_state_count; ++state)
        if (state_is_wanted(static_cast<TaskState>(state))) total += lane.counts[state];
    return total;
  }
  each(false, [&](const std::vector<TaskId>& found) {
    total += std::ssize(found);
    return true;
  });
  return total;
}

bool TaskSearch::few() const {
  if (filter_.states.empty()) return false;
  std::int64_t total = 0;
  for (const auto& lane : lanes_)
    for (auto state : filter_.states) total += lane.counts[static_cast<int>(state)];
  return total <= few_tasks;
}

std::vector<std::string> TaskSearch::members(const std::string& index) {
  std::vector<std::string> ids;
  auto reply = store_.server.call({"ZRANGE", store_.keys.key(index), "0", "-1"});
  for (std::size_t i = 0; i < reply.size(); ++i) ids.push_back(reply[i].string());
  return ids;
}

std::vector<std::string> TaskSearch::ids_by_state() {
  std::vector<std::string> ids;
  auto add = [&](const std::string& index) {
    auto some = members(index);
    ids.insert(ids.end(), some.begin(), some.end());
  };
  for (auto state : filter_.states) {
    if (state == TaskState::pending) {
      for (const auto& lane : lanes_)
        for (auto index : {"ready:", "alone:", "later:"}) add(index + lane.name);
    } else if (state == TaskState::running) {
      auto holders = store_.server.call({"SMEMBERS", store_.keys.key("holders")});
      for (std::size_t i = 0; i < holders.size(); ++i) add("held:" + holders[i].string());
    } else if (state == TaskState::blocked) {
      add("blocked");
    } else if (state == TaskState::held) {
      add("on_hold");
    } else {
      add("done:" + std::to_string(static_cast<int>(state)));
    }
  }
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

bool TaskSearch::matches(const Value& row, const Value* body) const {
  if (row[0].is_nil() || !state_is_wanted(static_cast<TaskState>(row[0].number()))) return false;
  auto lane = parse_lane(row[1].text());
  auto order = row[2].number();
  if (!filter_.queue.empty() && lane.queue != filter_.queue) return false;
  if (!filter_.kind.empty() && lane.kind != filter_.kind) return false;
  if (filter_.priority && order / one_priority != *filter_.priority) return false;
  if (filter_.created_since && wall_time(order % one_priority) < *filter_.created_since)
    return false;
  if (!body) return true;
  return std::ranges::count(parse_json_list(parse_body(body->text()).tags), filter_.tag) > 0;
}

std::vector<TaskId> TaskSearch::matching(const std::vector<std::string>& ids) {
  std::vector<TaskId> found;
  bool with_bodies = !filter_.tag.empty();
  for (std::size_t first = 0; first < ids.size(); first += largest_window) {
    auto end = std::min(first + largest_window, ids.size());
    std::vector<Command> reads;
    for (auto at = first; at < end; ++at) {
      Command read{"HMGET", store_.keys.key("t:" + ids[at])};
      read.insert(read.end(), fields.begin(), fields.end());
      reads.push_back(std::move(read));
      if (with_bodies) reads.push_back({"GET", store_.keys.key("p:" + ids[at])});
    }
    auto rows = store_.server.call_all(reads);
    std::size_t each = with_bodies ? 2 : 1;
    for (std::size_t i = 0; each * i < rows.size(); ++i) {
      auto id = TaskId::parse(ids[first + i]);
      const auto& row = rows[each * i];
      if (id && matches(row, with_bodies ? &rows[each * i + 1] : nullptr)) found.push_back(*id);
    }
  }
  return found;
}

void TaskSearch::put_in_order(std::vector<TaskId>& ids, bool newest_first) {
  std::vector<std::pair<std::int64_t, TaskId>> numbered;
  for (std::size_t first = 0; first < ids.size(); first += largest_window) {
    auto end = std::min(first + largest_window, ids.size());
    Command ask{"ZMSCORE", store_.keys.key("all")};
    for (auto at = first; at < end; ++at) ask.push_back(ids[at].text());
    auto numbers = store_.server.call(ask);
    for (auto at = first; at < end; ++at)
      numbered.emplace_back(numbers[at - first].number(), ids[at]);
  }
  std::ranges::sort(numbered);
  if (newest_first) std::ranges::reverse(numbered);
  ids.clear();
  for (const auto& [number, id] : numbered) ids.push_back(id);
}

/// Walks through all tasks by their numbers.
void TaskSearch::each_of_all(bool newest_first, const Visitor& visit) {
  std::string last = newest_first ? "+inf" : "-inf";
  const std::string end = newest_first ? "-inf" : "+inf";
  for (auto window = first_window;; window = std::min(window * 2, largest_window)) {
    auto reply = store_.server.call({newest_first ? "ZREVRANGEBYSCORE" : "ZRANGEBYSCORE",
                                     store_.keys.key("all"), last, end, "WITHSCORES", "LIMIT", "0",
                                     std::to_string(window)});
    std::vector<std::string> ids;
    for (std::size_t i = 0; i + 1 < reply.size(); i += 2) ids.push_back(reply[i].string());
    if (ids.empty()) return;
    last = "(" + reply[reply.size() - 1].string();
    auto found = matching(ids);
    if (!found.empty() && !visit(found)) return;
    if (ids.size() < window) return;
  }
}

void TaskSearch::each(bool newest_first, const Visitor& visit) {
  if (filter_.ids.empty() && lanes_.empty()) return;
  if (filter_.ids.empty() && !few()) {
    each_of_all(newest_first, visit);
    return;
  }
  std::vector<std::string> ids;
  if (filter_.ids.empty()) {
    ids = ids_by_state();
  } else {
    for (const auto& id : filter_.ids) ids.push_back(id.text());
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  }
  auto found = matching(ids);
  put_in_order(found, newest_first);
  if (!found.empty()) visit(found);
}

}  // namespace holdfast::redis
