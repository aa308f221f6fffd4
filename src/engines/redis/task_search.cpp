#include "engines/redis/task_search.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "engines/redis/fresh_list.hpp"
#include "tasks/transitions.hpp"

namespace holdfast::redis {

namespace {

constexpr std::size_t first_window = 200;
constexpr std::size_t largest_window = 2'000;
/// Up to so many tasks of the wanted states, it is cheaper to take them from their indexes.
constexpr std::int64_t few_tasks = 10'000;

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

std::optional<std::int64_t> number_of(Store& store, TaskId id) {
  auto score = store.server.call({"ZSCORE", store.keys.key("all"), id.text()});
  if (score.is_nil()) return {};
  return score.number();
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

std::int64_t TaskSearch::count(const std::function<bool()>& go_on) {
  std::int64_t total = 0;
  if (counts_say_it()) {
    for (const auto& lane : lanes_)
      for (int state = 0; state < task_state_count; ++state)
        if (state_is_wanted(static_cast<TaskState>(state))) total += lane.counts[state];
    return total;
  }
  auto visit = [&](const std::vector<TaskId>& found) {
    total += std::ssize(found);
    return true;
  };
  each(false, visit, {}, [&](TaskId) { return !go_on || go_on(); });
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
  // What a worker holds is a hash, everything else is in an order.
  bool held = index.starts_with("held:");
  auto key = store_.keys.key(index);
  auto reply = store_.server.call(held ? Command{"HKEYS", key} : Command{"ZRANGE", key, "0", "-1"});
  for (std::size_t i = 0; i < reply.size(); ++i) ids.push_back(reply[i].string());
  return ids;
}

/// Who does not run any more is among them until all that were claimed with it have ended.
std::vector<std::string> TaskSearch::held() {
  std::vector<std::string> ids;
  for (const auto& worker : members("holders")) {
    auto claims = store_.server.call({"HKEYS", store_.keys.key("held:" + worker)});
    for (std::size_t i = 0; i < claims.size(); ++i) {
      auto claim = store_.keys.key(fmt::format("claim:{}:{}", worker, claims[i].text()));
      auto entries = store_.server.call({"LRANGE", claim, "0", "-1"});
      for (std::size_t j = 0; j < entries.size(); ++j)
        if (!entries[j].text().starts_with('=')) ids.push_back(entries[j].string());
    }
  }
  return ids;
}

/// Some of them may have left that state again.
std::vector<std::string> TaskSearch::completed() {
  std::vector<std::string> ids;
  auto entries = store_.server.call({"LRANGE", store_.keys.key("completed"), "0", "-1"});
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (!entries[i].text().starts_with('=')) ids.push_back(entries[i].string());
  return ids;
}

std::vector<std::string> TaskSearch::ids_by_state() {
  std::vector<std::string> ids;
  auto add_all = [&](const std::vector<std::string>& some) {
    ids.insert(ids.end(), some.begin(), some.end());
  };
  auto add = [&](const std::string& index) { add_all(members(index)); };
  for (auto state : filter_.states) {
    if (state == TaskState::pending) {
      for (const auto& lane : lanes_) {
        add_all(fresh_ids(store_, lane.name));
        for (auto index : {"ready:", "alone:", "later:"}) add(index + lane.name);
      }
    } else if (state == TaskState::running) {
      add_all(held());
    } else if (state == TaskState::blocked) {
      add("blocked");
    } else if (state == TaskState::held) {
      add("on_hold");
    } else if (state == TaskState::completed) {
      add_all(completed());
    } else {
      add("done:" + std::to_string(static_cast<int>(state)));
    }
  }
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

bool TaskSearch::matches(const std::optional<RowText>& row, const Value* body) const {
  if (!row || !state_is_wanted(row->state)) return false;
  if (!filter_.queue.empty() || !filter_.kind.empty()) {
    auto lane = parse_lane(row->lane);
    if (!filter_.queue.empty() && lane.queue != filter_.queue) return false;
    if (!filter_.kind.empty() && lane.kind != filter_.kind) return false;
  }
  if (filter_.priority && row->priority != *filter_.priority) return false;
  if (filter_.created_since && row->created_at < *filter_.created_since) return false;
  if (!body) return true;
  return std::ranges::count(parse_json_list(parse_body(body->text()).tags), filter_.tag) > 0;
}

std::vector<TaskId> TaskSearch::matching(const std::vector<std::string>& ids) {
  std::vector<TaskId> found;
  bool with_bodies = !filter_.tag.empty();
  for (std::span<const std::string> rest{ids}; !rest.empty();) {
    auto some = rest.first(std::min(rest.size(), largest_window));
    rest = rest.subspan(some.size());
    std::vector<Command> reads{read_rows(store_, some)};
    if (with_bodies)
      for (const auto& id : some) reads.push_back(read_begin_of_body(store_, id));
    auto replies = store_.server.call_all(reads);
    for (std::size_t i = 0; i < some.size(); ++i) {
      auto id = TaskId::parse(some[i]);
      const Value* body = with_bodies ? &replies[1 + i] : nullptr;
      if (id && matches(parse_row(replies[0][i]), body)) found.push_back(*id);
    }
  }
  return found;
}

void TaskSearch::put_in_order(std::vector<TaskId>& ids, bool newest_first,
                              std::optional<std::int64_t> after) {
  std::vector<std::pair<std::int64_t, TaskId>> numbered;
  for (std::size_t first = 0; first < ids.size(); first += largest_window) {
    auto end = std::min(first + largest_window, ids.size());
    Command ask{"ZMSCORE", store_.keys.key("all")};
    for (auto at = first; at < end; ++at) ask.push_back(ids[at].text());
    auto numbers = store_.server.call(ask);
    for (auto at = first; at < end; ++at)
      numbered.emplace_back(numbers[at - first].number(), ids[at]);
  }
  if (after)
    std::erase_if(numbered, [&](const auto& one) {
      return newest_first ? one.first >= *after : one.first <= *after;
    });
  std::ranges::sort(numbered);
  if (newest_first) std::ranges::reverse(numbered);
  ids.clear();
  for (const auto& [number, id] : numbered) ids.push_back(id);
}

/// Walks through all tasks by their numbers.
void TaskSearch::each_of_all(bool newest_first, const Visitor& visit,
                             std::optional<std::int64_t> after,
                             const std::function<bool(TaskId)>& go_on) {
  std::string last = after ? "(" + std::to_string(*after) : newest_first ? "+inf" : "-inf";
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
    const auto looked_at = TaskId::parse(ids.back());
    if (go_on && looked_at && !go_on(*looked_at)) return;
  }
}

void TaskSearch::each(bool newest_first, const Visitor& visit, std::optional<std::int64_t> after,
                      const std::function<bool(TaskId)>& go_on) {
  if (filter_.ids.empty() && lanes_.empty()) return;
  if (filter_.ids.empty() && !few()) {
    each_of_all(newest_first, visit, after, go_on);
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
  put_in_order(found, newest_first, after);
  if (!found.empty()) visit(found);
}

}  // namespace holdfast::redis
