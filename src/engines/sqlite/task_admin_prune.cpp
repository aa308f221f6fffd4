#include "engines/sqlite/task_admin_prune.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engines/sqlite/task_admin_queues.hpp"

namespace holdfast::sqlite {

namespace {

constexpr std::int64_t tasks_at_once = 1'000;
constexpr std::int64_t tasks_a_call = 100'000;
constexpr std::array finished_states = {TaskState::completed, TaskState::failed,
                                        TaskState::cancelled};
constexpr WallTime any_time = WallTime::max();

struct Old {
  WallTime finished_at{};
  std::int64_t seq = 0;
  auto operator<=>(const Old&) const = default;
};

/// The oldest that finished before a time. What others still wait for is kept: a dead letter that
/// is redriven releases them.
std::vector<Old> oldest(Connection& db, TaskState state, WallTime before, std::int64_t limit) {
  std::vector<Old> found;
  auto query = db.use(
      "SELECT t.finished_at, t.seq FROM holdfast_tasks t INDEXED BY holdfast_finished"
      " WHERE t.state BETWEEN 2 AND 4 AND t.state = ? AND t.finished_at < ? AND NOT EXISTS"
      " (SELECT 1 FROM holdfast_blocks b JOIN holdfast_tasks d ON d.seq = b.seq"
      " WHERE b.on_seq = t.seq AND d.state IN (5, 6)) ORDER BY t.finished_at LIMIT ?");
  query.bind(state, before, limit);
  while (query.step()) found.push_back({query.time(0), query.integer(1)});
  return found;
}

std::vector<Old> oldest_of_all(Connection& db, std::int64_t limit) {
  std::vector<Old> found;
  for (auto state : finished_states) {
    auto some = oldest(db, state, any_time, limit);
    found.insert(found.end(), some.begin(), some.end());
  }
  std::sort(found.begin(), found.end());
  if (std::ssize(found) > limit) found.resize(static_cast<std::size_t>(limit));
  return found;
}

std::int64_t remove(Connection& db, const std::vector<Old>& tasks) {
  if (tasks.empty()) return 0;
  std::vector<std::int64_t> seqs;
  for (const auto& task : tasks) seqs.push_back(task.seq);
  auto list = fmt::format("[{}]", fmt::join(seqs, ","));
  static constexpr std::array statements = {
      "DELETE FROM holdfast_history WHERE task IN (SELECT value FROM json_each(?))",
      "DELETE FROM holdfast_log WHERE task IN (SELECT value FROM json_each(?))",
      "DELETE FROM holdfast_effects WHERE task IN (SELECT value FROM json_each(?))",
      "DELETE FROM holdfast_progress WHERE task IN (SELECT value FROM json_each(?))",
      "DELETE FROM holdfast_blocks WHERE on_seq IN (SELECT value FROM json_each(?))",
      "DELETE FROM holdfast_blocks WHERE seq IN (SELECT value FROM json_each(?))",
      "DELETE FROM holdfast_tasks WHERE seq IN (SELECT value FROM json_each(?))",
  };
  for (const char* sql : statements) db.use(sql).bind(list).run();
  return std::ssize(tasks);
}

std::int64_t bytes_in_use(Connection& db) {
  return (db.number("PRAGMA page_count") - db.number("PRAGMA freelist_count")) *
         db.number("PRAGMA page_size");
}

/// How many finished tasks there are beyond a limit. Counting a million of them takes a while, so
/// first see whether there can be that many at all.
std::int64_t beyond(Reader& reader, std::int64_t limit) {
  auto at_most = reader.read([](Connection& db) {
    return db.number(
        "SELECT (SELECT max(seq) FROM holdfast_tasks) - (SELECT min(seq) FROM holdfast_tasks) + 1");
  });
  if (at_most <= limit) return 0;
  std::int64_t finished = 0;
  for (auto state : finished_states) finished += count_in_state(reader, state);
  return finished - limit;
}

/// Removes portion after portion of what `choose` names, until it names nothing more or this call
/// has done enough.
class Shedding {
 public:
  explicit Shedding(Store& store) : store_{store} {}

  template <class Choose>
  void shed(Choose choose) {
    while (total_ < tasks_a_call) {
      auto removed =
          store_.writer.write({KillPoint::prune_before_commit, KillPoint::prune_after_commit},
                              [&](Connection& db) { return remove(db, choose(db)); });
      if (removed == 0) return;
      total_ += removed;
    }
  }

  std::int64_t total() const { return total_; }

 private:
  Store& store_;
  std::int64_t total_ = 0;
};

}  // namespace

std::int64_t prune_finished(Store& store, const Settings::Retention& retention) {
  Shedding shedding{store};
  auto now = store.clock.wall();
  for (auto state : finished_states) {
    WallTime before = now - (state == TaskState::failed ? retention.failed : retention.completed);
    shedding.shed([&](Connection& db) { return oldest(db, state, before, tasks_at_once); });
  }
  auto excess = beyond(store.reader, retention.max_finished);
  auto shed_before = shedding.total();
  shedding.shed([&](Connection& db) {
    auto left = std::max<std::int64_t>(excess - (shedding.total() - shed_before), 0);
    return oldest_of_all(db, std::min(left, tasks_at_once));
  });
  shedding.shed([&](Connection& db) {
    bool fits = retention.max_bytes <= 0 || bytes_in_use(db) <= retention.max_bytes;
    return oldest_of_all(db, fits ? 0 : tasks_at_once);
  });
  return shedding.total();
}

}  // namespace holdfast::sqlite
