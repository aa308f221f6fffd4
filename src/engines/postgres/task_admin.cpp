#include "engines/postgres/task_admin.hpp"

#include <algorithm>
#include <climits>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/state_machine.hpp>

#include "engines/postgres/ready_groups.hpp"
#include "engines/postgres/task_filter.hpp"

namespace holdfast::postgres {

namespace {

/// What the task is and what it is allowed: columns 0 to 10.
void read_task(const Rows& row, TaskRecord& record) {
  record.id = row.task_id(0);
  record.queue = row.text(1);
  record.kind = row.text(2);
  record.state = row.state(3);
  record.priority = row.small(4);
  record.payload = row.text(5);
  record.tags = row.texts(6);
  record.unique_key = row.text(7);
  record.max_attempts = row.small(8);
  record.timeout = Millis{row.integer(9)};
  record.created_at = row.time(10);
}

/// What has become of it: columns 11 to 27.
void read_fate(const Rows& row, TaskRecord& record) {
  record.attempt = row.small(11);
  record.recoveries = row.small(12);
  record.crashes = row.small(13);
  record.suspect = row.yes(14);
  record.cancel_requested = row.yes(15);
  record.token = Token{row.integer(16)};
  record.run_at = row.time(17);
  record.claimed_at = row.optional_time(18);
  record.finished_at = row.optional_time(19);
  record.worker = row.optional_worker(20);
  record.result = row.text(21);
  record.error = row.text(22);
  record.cause = row.text(23);
  record.progress = row.real(24);
  record.progress_text = row.text(25);
  record.waits_for = row.task_ids(26);
  record.limit_key = row.text(27);
  record.payload_bytes = static_cast<std::size_t>(row.integer(28));
  record.result_bytes = static_cast<std::size_t>(row.integer(29));
}

/// So many rows are looked at by one query where many may not fit.
constexpr std::int64_t first_window = 2'000, largest_window = 20'000;
/// Up to so many tasks of the wanted states, the server is quicker by their index.
constexpr std::int64_t few_rows = 10'000;

/// The id of the task of a transaction is made of the name that a client gave it, and says nothing
/// about when that was.
bool in_order_of_time(const TaskFilter& filter) { return filter.kind == transaction_kind; }

bool exists(Connection& db, TaskId id) {
  auto found = db.run_once("SELECT 1 FROM hf.tasks WHERE id = $1", {to_value(id)});
  return found.next();
}

/// The condition that a task comes after that one.
std::string behind(const TaskFilter& filter, const TaskPage& page, Condition& condition) {
  const auto last = condition.name(to_value(*page.after));
  const char* than = page.newest_first ? "<" : ">";
  if (!in_order_of_time(filter)) return fmt::format(" AND t.id {} {}", than, last);
  return fmt::format(
      " AND (t.created_at, t.id) {} (SELECT l.created_at, l.id FROM hf.tasks l WHERE l.id = {})",
      than, last);
}

/// Ids made later sort later, and there is an index on them. Where few tasks fit, the planner is
/// kept from walking along that index in search of them: they are found by their states, then
/// sorted.
std::vector<TaskRecord> read_page(Connection& db, const TaskFilter& filter, const TaskPage& page,
                                  std::optional<TaskId> no_further_than, bool few_fit = false) {
  Condition condition{filter};
  if (page.after) condition.sql += behind(filter, page, condition);
  if (no_further_than)
    condition.sql += (page.newest_first ? " AND t.id >= " : " AND t.id <= ") +
                     condition.name(to_value(*no_further_than));
  auto limit = condition.name(to_value(std::max(page.limit, 0)));
  auto offset = condition.name(to_value(page.after ? 0 : std::max(page.offset, 0)));
  auto longest = condition.name(
      to_value(static_cast<std::int64_t>(std::min<std::size_t>(page.longest_text, INT_MAX))));
  auto tasks = "hf.tasks t WHERE " + condition.sql;
  const char* direction = page.newest_first ? "DESC" : "ASC";
  if (few_fit) tasks = "(SELECT * FROM " + tasks + " OFFSET 0) t";
  auto sql = fmt::format(
      "SELECT t.id, t.queue, t.kind, t.state, t.priority, left(t.payload, {4}::int), t.tags,"
      " t.unique_key,"
      " t.max_attempts, t.timeout, t.created_at, t.attempt, t.recoveries, t.crashes, t.suspect,"
      " t.cancel_requested, t.token, CASE WHEN t.run_at = 0 THEN t.created_at ELSE t.run_at END,"
      " t.claimed_at, t.finished_at, t.owner, left(t.result, {4}::int), t.error, t.cause,"
      " p.fraction, p.text,"
      " ARRAY(SELECT b.on_task FROM hf.blocks b WHERE b.task = t.id ORDER BY b.on_task),"
      " t.limit_key, octet_length(t.payload), coalesce(octet_length(t.result), 0)"
      " FROM (SELECT * FROM {0} ORDER BY {5} t.id {1} LIMIT {2} OFFSET {3}) t"
      " LEFT JOIN hf.progress p ON p.task = t.id ORDER BY {5} t.id {1}",
      tasks, direction, limit, offset, longest,
      in_order_of_time(filter) ? fmt::format("t.created_at {},", direction) : "");
  std::vector<TaskRecord> records;
  auto rows = db.run_once(sql, condition.values);
  while (rows.next()) {
    auto& record = records.emplace_back();
    read_task(rows, record);
    read_fate(rows, record);
  }
  return records;
}

bool few(Connection& db, const std::vector<TaskState>& states) {
  std::vector<std::string> counts;
  for (auto state : states)
    counts.push_back(
        fmt::format("(SELECT count(*) FROM (SELECT 1 FROM hf.tasks WHERE state = {}"
                    " LIMIT {}) s)",
                    static_cast<int>(state), few_rows));
  if (counts.empty()) return false;
  auto row = db.run_once(fmt::format("SELECT {} < {}", fmt::join(counts, " + "), few_rows), {});
  return row.next() && row.yes(0);
}

/// The task so many further on; nothing if there are not as many.
std::optional<TaskId> task_ahead(Connection& db, const TaskPage& from, std::int64_t rows) {
  TaskFilter all;
  Condition condition{all};
  if (from.after)
    condition.sql += (from.newest_first ? " AND t.id < " : " AND t.id > ") +
                     condition.name(to_value(*from.after));
  auto found = db.run_once(
      fmt::format("SELECT t.id FROM hf.tasks t WHERE {} ORDER BY t.id {} LIMIT 1 OFFSET {}",
                  condition.sql, from.newest_first ? "DESC" : "ASC", rows - 1),
      condition.values);
  if (!found.next()) return {};
  return found.task_id(0);
}

/// A filter that fits few of many tasks takes long, so whoever asks decides after every window
/// whether that is enough.
std::vector<TaskRecord> read_in_windows(Connection& db, const TaskFilter& filter, TaskPage page) {
  std::vector<TaskRecord> records;
  const auto limit = page.limit;
  for (auto rows = first_window;; rows = std::min(2 * rows, largest_window)) {
    const auto edge = task_ahead(db, page, rows);
    page.limit = limit - static_cast<int>(records.size());
    auto some = read_page(db, filter, page, edge);
    std::ranges::move(some, std::back_inserter(records));
    if (!edge || std::ssize(records) >= limit || !page.go_on(*edge)) return records;
    page.after = edge;
  }
}

/// Behind the one task, up to the other one with it.
std::int64_t count_between(Connection& db, const TaskFilter& filter, std::optional<TaskId> after,
                           std::optional<TaskId> until) {
  Condition condition{filter};
  if (after) condition.sql += " AND t.id > " + condition.name(to_value(*after));
  if (until) condition.sql += " AND t.id <= " + condition.name(to_value(*until));
  auto row =
      db.run_once("SELECT count(*) FROM hf.tasks t WHERE " + condition.sql, condition.values);
  return row.next() ? row.integer(0) : 0;
}

bool is_about_states_and_queue(const TaskFilter& filter) {
  return filter.ids.empty() && filter.kind.empty() && filter.tag.empty() && !filter.priority &&
         !filter.created_since;
}

std::int64_t count_kept(Connection& db, const TaskFilter& filter) {
  std::int64_t total = 0;
  for (auto rows = read_counts(db); rows.next();) {
    const bool in_queue = filter.queue.empty() || filter.queue == rows.text(0);
    const bool in_state =
        filter.states.empty() || std::ranges::count(filter.states, rows.state(1)) > 0;
    if (in_queue && in_state) total += rows.integer(2);
  }
  return total;
}

std::int64_t count_in_windows(Connection& db, const TaskFilter& filter,
                              const std::function<bool()>& go_on) {
  std::int64_t total = 0;
  // No task has the first id, so that every window has a beginning in the index.
  for (TaskPage from{.newest_first = false, .after = TaskId{}};;) {
    const auto edge = task_ahead(db, from, largest_window);
    total += count_between(db, filter, from.after, edge);
    if (!edge || !go_on()) return total;
    from.after = edge;
  }
}

}  // namespace

std::vector<TaskRecord> PostgresTaskAdmin::search(const TaskFilter& filter, const TaskPage& page) {
  return store_.reader.answer([&](Connection& db) {
    if (in_order_of_time(filter)) {
      auto from = page;
      if (from.after && !exists(db, *from.after)) from.after.reset();
      return read_page(db, filter, from, {}, filter.ids.empty() && few(db, filter.states));
    }
    const bool few_fit = filter.ids.empty() && few(db, filter.states);
    const bool in_windows =
        page.go_on && filter.ids.empty() && (page.after || page.offset <= 0) && !few_fit;
    return in_windows ? read_in_windows(db, filter, page)
                      : read_page(db, filter, page, {}, few_fit);
  });
}

std::int64_t PostgresTaskAdmin::count(const TaskFilter& filter,
                                      const std::function<bool()>& go_on) {
  return store_.reader.answer([&](Connection& db) {
    if (is_about_states_and_queue(filter)) return count_kept(db, filter);
    const bool at_once = !go_on || !filter.ids.empty() || few(db, filter.states);
    return at_once ? count_between(db, filter, {}, {}) : count_in_windows(db, filter, go_on);
  });
}

std::vector<QueueStatus> PostgresTaskAdmin::queues() {
  return store_.reader.answer([](Connection& db) {
    std::map<std::string, QueueStatus> queues;
    auto of = [&](const std::string& name) -> QueueStatus& {
      auto& status = queues[name];
      status.queue = name;
      return status;
    };
    auto counts = read_counts(db);
    while (counts.next()) of(counts.text(0)).counts[counts.integer(1)] = counts.integer(2);
    auto oldest = oldest_ready(db);
    while (oldest.next()) of(oldest.text(0)).oldest_pending = oldest.optional_time(1);
    auto paused = db.run("SELECT queue FROM hf.paused");
    while (paused.next()) of(paused.text(0)).paused = true;
    std::vector<QueueStatus> list;
    for (auto& [name, status] : queues) list.push_back(std::move(status));
    return list;
  });
}

std::vector<std::string> PostgresTaskAdmin::paused() {
  return store_.reader.read([](Connection& db) {
    std::vector<std::string> queues;
    auto rows = db.run("SELECT queue FROM hf.paused");
    while (rows.next()) queues.push_back(rows.text(0));
    return queues;
  });
}

std::vector<RecordedTransition> PostgresTaskAdmin::recorded_history(TaskId id, Stretch stretch) {
  return store_.reader.answer([&](Connection& db) {
    std::vector<RecordedTransition> history;
    auto rows = db.run(
        "SELECT from_state, to_state, actor, reason, token, attempt, at, claimed_at, worker"
        " FROM hf.history WHERE task = $1 ORDER BY n LIMIT $2 OFFSET $3",
        id, stretch.most, stretch.skip);
    while (rows.next()) {
      RecordedTransition row;
      row.transition = {rows.state(0),          rows.state(1), rows.text(2), rows.text(3),
                        Token{rows.integer(4)}, rows.small(5), rows.time(6)};
      row.claimed_at = rows.optional_time(7);
      row.worker = rows.optional_worker(8);
      history.push_back(std::move(row));
    }
    return history;
  });
}

std::int64_t PostgresTaskAdmin::recorded_steps(TaskId id) {
  return store_.reader.answer([&](Connection& db) {
    auto rows = db.run("SELECT count(*) FROM hf.history WHERE task = $1", id);
    rows.next();
    return rows.integer(0);
  });
}

std::vector<LogLine> PostgresTaskAdmin::logs(TaskId id, std::int64_t skip, int most) {
  return store_.reader.answer([&](Connection& db) {
    std::vector<LogLine> lines;
    auto rows =
        db.run("SELECT at, attempt, line FROM hf.log WHERE task = $1 ORDER BY n LIMIT $2 OFFSET $3",
               id, most, skip);
    while (rows.next()) lines.push_back({rows.time(0), rows.small(1), rows.text(2)});
    return lines;
  });
}

void PostgresTaskAdmin::set_paused(const std::string& queue, bool paused,
                                   const std::string& actor) {
  store_.writer.write({KillPoint::move_before_commit, KillPoint::move_after_commit},
                      [&](Connection& db) {
                        if (paused) {
                          db.run(
                              "INSERT INTO hf.paused (queue, actor, at) VALUES ($1, $2, {wall})"
                              " ON CONFLICT DO NOTHING",
                              queue, actor);
                        } else {
                          db.run("DELETE FROM hf.paused WHERE queue = $1", queue);
                        }
                      });
  store_.session.announce_control();
  store_.session.announce_work();
}

}  // namespace holdfast::postgres
