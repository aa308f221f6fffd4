#include "engines/sqlite/task_admin.hpp"

#include <algorithm>

#include "engines/sqlite/task_admin_move.hpp"
#include "engines/sqlite/task_admin_prune.hpp"
#include "engines/sqlite/task_admin_queues.hpp"
#include "engines/sqlite/task_admin_record.hpp"
#include "engines/sqlite/task_admin_search.hpp"

namespace holdfast::sqlite {

namespace {

constexpr std::size_t records_at_once = 200;

/// The number of the task that the page begins behind; 0: there is none, or it is gone.
std::int64_t begins_after(Reader& reader, const TaskPage& page) {
  if (!page.after) return 0;
  return reader.read([&](Connection& db) {
    auto query = db.use("SELECT seq FROM holdfast_tasks WHERE id = ?");
    return query.bind(*page.after).step() ? query.integer(0) : std::int64_t{0};
  });
}

/// The part of all found that is on the page.
std::vector<TaskSearch::Found> find_page(TaskSearch& search, const TaskPage& page,
                                         std::int64_t after) {
  auto wanted = static_cast<std::size_t>(std::max(page.limit, 0));
  auto skip = after > 0 ? std::size_t{0} : static_cast<std::size_t>(std::max(page.offset, 0));
  std::vector<TaskSearch::Found> on_page;
  auto order =
      page.newest_first ? TaskSearch::Order::newest_first : TaskSearch::Order::oldest_first;
  auto visit = [&](const std::vector<TaskSearch::Found>& found) {
    auto passed = std::min(skip, found.size());
    skip -= passed;
    auto taken = std::min(found.size() - passed, wanted - on_page.size());
    auto first = found.begin() + static_cast<std::ptrdiff_t>(passed);
    on_page.insert(on_page.end(), first, first + static_cast<std::ptrdiff_t>(taken));
    return on_page.size() < wanted;
  };
  search.each(order, visit, after, page.go_on);
  return on_page;
}

}  // namespace

std::vector<TaskRecord> SqliteTaskAdmin::search(const TaskFilter& filter, const TaskPage& page) {
  TaskSearch search{store_.reader, filter};
  auto found = find_page(search, page, begins_after(store_.reader, page));
  std::vector<TaskRecord> records;
  for (std::size_t done = 0; done < found.size(); done += records_at_once) {
    auto end = std::min(done + records_at_once, found.size());
    store_.reader.read([&](Connection& db) {
      for (auto at = done; at < end; ++at)
        if (auto record = read_record(db, found[at].seq, page.longest_text))
          records.push_back(std::move(*record));
    });
  }
  return records;
}

std::int64_t SqliteTaskAdmin::count(const TaskFilter& filter, const std::function<bool()>& go_on) {
  return TaskSearch{store_.reader, filter}.count(go_on);
}

std::vector<QueueStatus> SqliteTaskAdmin::queues() {
  return queue_statuses(store_.reader, store_.clock.wall());
}

std::vector<std::string> SqliteTaskAdmin::paused() {
  return store_.reader.read([](Connection& db) {
    std::vector<std::string> queues;
    auto query = db.use("SELECT queue FROM holdfast_paused");
    while (query.step()) queues.push_back(query.text(0));
    return queues;
  });
}

std::vector<RecordedTransition> SqliteTaskAdmin::recorded_history(TaskId id, Stretch stretch) {
  return store_.reader.read([&](Connection& db) {
    std::vector<RecordedTransition> history;
    auto query = db.use(
        "SELECT h.from_state, h.to_state, h.actor, h.reason, h.token, h.attempt, h.at,"
        " h.claimed_at, h.worker FROM holdfast_history h JOIN holdfast_tasks t ON t.seq = h.task"
        " WHERE t.id = ? ORDER BY h.n LIMIT ? OFFSET ?");
    query.bind(id, stretch.most, stretch.skip);
    while (query.step()) {
      RecordedTransition row;
      row.transition.from = static_cast<TaskState>(query.integer(0));
      row.transition.to = static_cast<TaskState>(query.integer(1));
      row.transition.actor = query.text(2);
      row.transition.reason = query.text(3);
      row.transition.token = Token{query.integer(4)};
      row.transition.attempt = static_cast<int>(query.integer(5));
      row.transition.at = query.time(6);
      row.claimed_at = query.optional_time(7);
      if (!query.is_null(8)) row.worker = query.worker_id(8);
      history.push_back(std::move(row));
    }
    return history;
  });
}

std::int64_t SqliteTaskAdmin::recorded_steps(TaskId id) {
  return store_.reader.read([&](Connection& db) {
    auto query = db.use(
        "SELECT count(*) FROM holdfast_history h JOIN holdfast_tasks t ON t.seq = h.task"
        " WHERE t.id = ?");
    query.bind(id);
    query.step();
    return query.integer(0);
  });
}

std::vector<LogLine> SqliteTaskAdmin::logs(TaskId id, std::int64_t skip, int most) {
  return store_.reader.read([&](Connection& db) {
    std::vector<LogLine> lines;
    auto query = db.use(
        "SELECT l.at, l.attempt, l.line FROM holdfast_log l"
        " JOIN holdfast_tasks t ON t.seq = l.task WHERE t.id = ? ORDER BY l.n LIMIT ? OFFSET ?");
    query.bind(id, most, skip);
    while (query.step())
      lines.push_back({query.time(0), static_cast<int>(query.integer(1)), query.text(2)});
    return lines;
  });
}

std::int64_t SqliteTaskAdmin::move(const TaskFilter& filter, const Move& move) {
  auto moved = move_tasks(store_, filter, move);
  if (moved.ready) store_.watch.announce_work();
  if (moved.stopped) store_.watch.announce_control();
  return moved.count;
}

void SqliteTaskAdmin::set_paused(const std::string& queue, bool paused, const std::string& actor) {
  store_.writer.write({KillPoint::move_before_commit, KillPoint::move_after_commit},
                      [&](Connection& db) {
                        if (paused) {
                          db.use(
                                "INSERT OR IGNORE INTO holdfast_paused (queue, actor, at)"
                                " VALUES (?, ?, ?)")
                              .bind(queue, actor, store_.clock.wall())
                              .run();
                        } else {
                          db.use("DELETE FROM holdfast_paused WHERE queue = ?").bind(queue).run();
                        }
                      });
  store_.watch.announce_control();
  store_.watch.announce_work();
}

TaskAdmin::Pruned SqliteTaskAdmin::prune(const Settings::Retention& retention, int limit) {
  return pruning_.step(retention, limit);
}

}  // namespace holdfast::sqlite
