#include "engines/sqlite/task_admin_prune.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engines/sqlite/file_lock.hpp"
#include "engines/sqlite/task_admin_queues.hpp"

namespace holdfast::sqlite {

namespace {

constexpr std::array finished_states = {TaskState::completed, TaskState::cancelled,
                                        TaskState::failed};
constexpr WallTime any_time = WallTime::max();
constexpr int a_handful = 500;  ///< removed between two looks at how large the store still is

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
      " WHERE t.state BETWEEN {completed} AND {cancelled} AND t.state = ? AND t.finished_at < ? "
      "AND NOT EXISTS"
      " (SELECT 1 FROM holdfast_blocks b JOIN holdfast_tasks d ON d.seq = b.seq"
      " WHERE b.on_seq = t.seq AND d.state IN ({blocked}, {held})) ORDER BY t.finished_at LIMIT ?");
  query.bind(state, before, limit);
  while (query.step()) found.push_back({query.time(0), query.integer(1)});
  return found;
}

/// Dead letters go last, because somebody may still want to redrive them.
std::vector<Old> oldest_of_all(Connection& db, std::int64_t limit) {
  auto found = oldest(db, TaskState::completed, any_time, limit);
  auto cancelled = oldest(db, TaskState::cancelled, any_time, limit);
  found.insert(found.end(), cancelled.begin(), cancelled.end());
  std::sort(found.begin(), found.end());
  if (std::ssize(found) > limit) found.resize(static_cast<std::size_t>(limit));
  if (std::ssize(found) == limit) return found;
  auto failed = oldest(db, TaskState::failed, any_time, limit - std::ssize(found));
  found.insert(found.end(), failed.begin(), failed.end());
  return found;
}

std::int64_t remove(Connection& db, const std::vector<Old>& tasks) {
  std::vector<std::int64_t> seqs;
  for (const auto& task : tasks) seqs.push_back(task.seq);
  return remove_tasks(db, seqs);
}

std::int64_t bytes_in_use(Connection& db) {
  return (db.number("PRAGMA page_count") - db.number("PRAGMA freelist_count")) *
         db.number("PRAGMA page_size");
}

bool too_large(Connection& db, const Settings::Retention& retention) {
  return retention.max_bytes > 0 && bytes_in_use(db) > retention.max_bytes;
}

}  // namespace

std::int64_t remove_tasks(Connection& db, const std::vector<std::int64_t>& seqs) {
  if (seqs.empty()) return 0;
  auto list = fmt::format("[{}]", fmt::join(seqs, ","));
  static constexpr std::array statements = {
      "DELETE FROM holdfast_history WHERE task IN (SELECT value FROM json_each(?))",
      "DELETE FROM holdfast_log WHERE task IN (SELECT value FROM json_each(?))",
      "DELETE FROM holdfast_effects WHERE task IN (SELECT value FROM json_each(?))",
      "DELETE FROM holdfast_progress WHERE task IN (SELECT value FROM json_each(?))",
      "DELETE FROM holdfast_transactions WHERE task IN (SELECT value FROM json_each(?))",
      "DELETE FROM holdfast_moves WHERE task IN (SELECT value FROM json_each(?))",
      "DELETE FROM holdfast_ledger WHERE task IN (SELECT value FROM json_each(?))",
      "DELETE FROM holdfast_outbox WHERE task IN (SELECT value FROM json_each(?))",
      "DELETE FROM holdfast_blocks WHERE on_seq IN (SELECT value FROM json_each(?))",
      "DELETE FROM holdfast_blocks WHERE seq IN (SELECT value FROM json_each(?))",
  };
  for (const char* sql : statements) db.use(sql).bind(list).run();
  auto removed = db.use(
      "DELETE FROM holdfast_tasks WHERE seq IN (SELECT value FROM json_each(?))"
      " RETURNING lane, state");
  for (removed.bind(list); removed.step();)
    db.counts().add(removed.integer(0), static_cast<TaskState>(removed.integer(1)), -1);
  return std::ssize(seqs);
}

/// What there is to remove.
struct Pruning::Want {
  std::array<WallTime, finished_states.size()> before{};  ///< by age, for each state
  bool old = false;
  std::int64_t excess = 0;
  bool too_large = false;
};

TaskAdmin::Pruned Pruning::step(const Settings::Retention& retention, int limit) {
  auto want = look(retention);
  if (!want.old && want.excess == 0 && !want.too_large) return {};
  // Several workers find the same to be removed at the same time; one of them is enough.
  FileDescriptor file = open_private(store_.files.prune_lock(), O_RDWR | O_CREAT);
  if (!try_lock(file.get())) return {};
  auto removed = remove(want, retention, limit);
  return {removed, removed > 0 && (want.excess > removed || want.too_large)};
}

/// Looks on the reading connection, so that nobody waits while there is nothing to do.
Pruning::Want Pruning::look(const Settings::Retention& retention) {
  Want want;
  auto now = store_.clock.wall();
  for (std::size_t i = 0; i < finished_states.size(); ++i) {
    want.before[i] =
        now - (finished_states[i] == TaskState::failed ? retention.failed : retention.completed);
  }
  store_.reader.read([&](Connection& db) {
    auto finished = count_tasks(db, finished_states);
    want.excess = std::max<std::int64_t>(finished - retention.max_finished, 0);
    want.too_large = too_large(db, retention);
    for (std::size_t i = 0; i < finished_states.size(); ++i)
      want.old |= !oldest(db, finished_states[i], want.before[i], 1).empty();
  });
  return want;
}

std::int64_t Pruning::remove(const Want& want, const Settings::Retention& retention, int limit) {
  return store_.writer.write(
      {KillPoint::prune_before_commit, KillPoint::prune_after_commit}, [&](Connection& db) {
        std::int64_t removed = 0;
        while (removed < limit && too_large(db, retention)) {
          auto some = sqlite::remove(
              db, oldest_of_all(db, std::min<std::int64_t>(limit - removed, a_handful)));
          if (some == 0) break;
          removed += some;
        }
        if (removed > 0) return removed;
        std::vector<Old> chosen;
        if (want.excess > 0) chosen = oldest_of_all(db, std::min<std::int64_t>(want.excess, limit));
        for (std::size_t i = 0; i < finished_states.size() && chosen.empty(); ++i)
          if (want.old) chosen = oldest(db, finished_states[i], want.before[i], limit);
        return sqlite::remove(db, chosen);
      });
}

}  // namespace holdfast::sqlite
