#include "engines/sqlite/task_admin_search.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engines/sqlite/task_admin_queues.hpp"

namespace holdfast::sqlite {

namespace {

/// So many rows are looked at in one read: few at first, because the first page is soon full, then
/// more, but never for more than a few milliseconds.
constexpr std::int64_t first_window = 500;
constexpr std::int64_t largest_window = 20'000;
/// Up to so many tasks of the wanted states, it is cheaper to take them from their index.
constexpr std::int64_t few_rows = 10'000;

std::string lanes_of(Connection& db, const TaskFilter& filter) {
  std::vector<std::int64_t> lanes;
  auto query = db.use(
      "SELECT lane FROM holdfast_lanes WHERE (?1 = '' OR queue = ?1) AND (?2 = '' OR kind = ?2)");
  query.bind(filter.queue, filter.kind);
  while (query.step()) lanes.push_back(query.integer(0));
  return fmt::format("[{}]", fmt::join(lanes, ","));
}

void put_in_order(std::vector<TaskSearch::Found>& found, TaskSearch::Order order) {
  std::sort(found.begin(), found.end());
  if (order == TaskSearch::Order::newest_first) std::reverse(found.begin(), found.end());
}

}  // namespace

std::string state_clause(TaskState state) {
  auto number = static_cast<int>(state);
  switch (state) {
    case TaskState::pending:
    case TaskState::running:
      return fmt::format("state = {}", number);
    case TaskState::completed:
    case TaskState::failed:
    case TaskState::cancelled:
      return fmt::format("state BETWEEN {{completed}} AND {{cancelled}} AND state = {}", number);
    case TaskState::blocked:
    case TaskState::held:
      return fmt::format("state IN ({{blocked}}, {{held}}) AND state = {}", number);
  }
  return "0";
}

TaskSearch::TaskSearch(Reader& reader, const TaskFilter& filter)
    : reader_{reader}, filter_{filter}, conditions_{" AND ?6 = ?6"} {
  if (!filter.queue.empty() || !filter.kind.empty()) {
    lanes_ = reader_.read([&](Connection& db) { return lanes_of(db, filter); });
    nothing_can_match_ = lanes_ == "[]";
    conditions_ += " AND lane IN (SELECT value FROM json_each(?1))";
  }
  if (!filter.tag.empty())
    conditions_ += " AND EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?2)";
  if (filter.priority) conditions_ += " AND priority = ?3";
  if (filter.created_since) conditions_ += " AND created_at >= ?4";
  std::vector<int> states;
  for (auto state : filter.states) states.push_back(static_cast<int>(state));
  if (!states.empty()) states_ = fmt::format(" AND state IN ({})", fmt::join(states, ", "));
}

std::vector<TaskSearch::Found> TaskSearch::select(Connection& db, const std::string& which,
                                                  Window window) const {
  std::vector<Found> found;
  Connection::Once query{db, "SELECT seq, id FROM holdfast_tasks WHERE " + which + conditions_};
  query->bind(lanes_, filter_.tag, filter_.priority, filter_.created_since, window.from, window.to);
  while (query->step()) found.push_back({query->integer(0), query->task_id(1)});
  return found;
}

std::vector<TaskSearch::Found> TaskSearch::find_by_id() const {
  std::vector<Found> found;
  auto sql = "SELECT seq, id FROM holdfast_tasks WHERE id = ?7" + conditions_ + states_;
  for (std::size_t done = 0; done < filter_.ids.size(); done += 1'000) {
    auto end = std::min(done + 1'000, filter_.ids.size());
    reader_.read([&](Connection& db) {
      Connection::Once query{db, sql};
      for (auto at = done; at < end; ++at) {
        query->bind(lanes_, filter_.tag, filter_.priority, filter_.created_since, 0, 0,
                    filter_.ids[at]);
        if (query->step()) found.push_back({query->integer(0), query->task_id(1)});
        query->again();
      }
    });
  }
  return found;
}

std::vector<TaskSearch::Found> TaskSearch::find_by_state() const {
  std::vector<Found> found;
  for (auto state : filter_.states) {
    auto some = reader_.read([&](Connection& db) { return select(db, state_clause(state), {}); });
    found.insert(found.end(), some.begin(), some.end());
  }
  return found;
}

bool TaskSearch::few() const {
  if (filter_.states.empty()) return false;
  return std::all_of(filter_.states.begin(), filter_.states.end(), [&](TaskState state) {
    return reader_.read([&](Connection& db) {
      Connection::Once query{
          db, fmt::format("SELECT count(*) FROM (SELECT 1 FROM holdfast_tasks WHERE {} LIMIT {})",
                          state_clause(state), few_rows)};
      return query->step() && query->integer(0) < few_rows;
    });
  });
}

TaskSearch::Window TaskSearch::extent(Order order, std::int64_t after) const {
  auto all = reader_.read([](Connection& db) {
    auto query = db.use(
        "SELECT (SELECT min(seq) FROM holdfast_tasks), (SELECT max(seq) FROM holdfast_tasks)");
    query.step();
    return query.is_null(0) ? Window{} : Window{query.integer(0), query.integer(1) + 1};
  });
  if (after > 0 && order == Order::oldest_first) all.from = std::max(all.from, after + 1);
  if (after > 0 && order == Order::newest_first) all.to = std::min(all.to, after);
  return all;
}

/// The task of a window that was looked at last; none if it has no tasks any more.
TaskId TaskSearch::last_of(Window window, Order order) const {
  return reader_.read([&](Connection& db) {
    auto query = order == Order::oldest_first
                     ? db.use(
                           "SELECT id FROM holdfast_tasks WHERE seq >= ? AND seq < ?"
                           " ORDER BY seq DESC LIMIT 1")
                     : db.use(
                           "SELECT id FROM holdfast_tasks WHERE seq >= ? AND seq < ?"
                           " ORDER BY seq LIMIT 1");
    return query.bind(window.from, window.to).step() ? query.task_id(0) : TaskId{};
  });
}

void TaskSearch::each(Order order, const Visitor& visit, std::int64_t after,
                      const std::function<bool(TaskId)>& go_on) {
  if (nothing_can_match_) return;
  const bool forwards = order == Order::oldest_first;
  if (!filter_.ids.empty() || few()) {
    auto found = filter_.ids.empty() ? find_by_state() : find_by_id();
    put_in_order(found, order);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (after > 0)
      std::erase_if(
          found, [&](const Found& one) { return forwards ? one.seq <= after : one.seq >= after; });
    visit(found);
    return;
  }
  auto all = extent(order, after);
  for (auto rows = first_window; all.from < all.to; rows = std::min(rows * 2, largest_window)) {
    Window window = forwards ? Window{all.from, std::min(all.from + rows, all.to)}
                             : Window{std::max(all.to - rows, all.from), all.to};
    (forwards ? all.from : all.to) = forwards ? window.to : window.from;
    auto found = reader_.read(
        [&](Connection& db) { return select(db, "seq >= ?5 AND seq < ?6" + states_, window); });
    put_in_order(found, order);
    if (!found.empty() && !visit(found)) return;
    if (!go_on || all.from >= all.to) continue;
    const auto last = last_of(window, order);
    if (!last.is_nil() && !go_on(last)) return;
  }
}

bool TaskSearch::is_about_states_and_lanes() const {
  return filter_.ids.empty() && filter_.tag.empty() && !filter_.priority && !filter_.created_since;
}

std::int64_t TaskSearch::count(const std::function<bool()>& go_on) {
  if (is_about_states_and_lanes()) {
    std::optional<std::string> lanes;
    if (!lanes_.empty()) lanes = lanes_;
    return reader_.read([&](Connection& db) { return count_tasks(db, filter_.states, lanes); });
  }
  std::int64_t total = 0;
  auto visit = [&](const std::vector<Found>& found) {
    total += static_cast<std::int64_t>(found.size());
    return true;
  };
  each(Order::oldest_first, visit, 0, [&](TaskId) { return !go_on || go_on(); });
  return total;
}

}  // namespace holdfast::sqlite
