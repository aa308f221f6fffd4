#include "engines/sqlite/handfuls.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "engines/sqlite/statements.hpp"

namespace holdfast::sqlite {

namespace {

std::string repeated(const char* row, std::size_t times) {
  return fmt::format("{}", fmt::join(std::vector<std::string>(times, row), ", "));
}

const std::string insert_sql =
    "INSERT INTO holdfast_tasks (id, lane, state, priority, run_at, created_at, max_attempts,"
    " timeout, payload_sum, row_sum, payload) VALUES " +
    repeated("(?, ?, {pending}, ?, ?, ?, ?, ?, ?, ?, ?)", tasks_in_handful);

const RowList settle_sql{
    "UPDATE holdfast_tasks SET state = {completed}, finished_at = ?2, result = NULL, suspect = 0,"
    " cancel_requested = 0, lease_until = NULL, row_sum = holdfast_end(?3, seq, lane, {completed})"
    " WHERE seq IN (",
    ")" HOLDFAST_TOKEN_GUARD_OF_MANY};

}  // namespace

RowList::RowList(std::string before, std::string after) {
  for (std::size_t i = 0; i < lengths.size(); ++i)
    texts_[i] = before + repeated("?", lengths[i]) + after;
}

const std::string& RowList::text(std::size_t rows) const {
  auto length = std::ranges::lower_bound(lengths, rows);
  return texts_.at(static_cast<std::size_t>(length - lengths.begin()));
}

bool is_plain(const NewTask& task) {
  const auto& options = task.options;
  return options.unique_key.empty() && options.after.empty() && options.tags.empty() &&
         is_default(options.backoff);
}

bool insert_handful(Connection& db, std::span<const LaneTask, tasks_in_handful> tasks,
                    WallTime now) {
  auto insert = db.use(insert_sql);
  int at = 1;
  for (const auto& [task, id, lane] : tasks) {
    const auto& options = task->options;
    auto row = new_row(*task, id, lane, now);
    row.payload_sum = payload_sum(task->payload);
    insert.bind_from(at, id, lane, options.priority, row.run_at, now, options.max_attempts,
                     options.timeout, row.payload_sum, row_sum(row), task->payload);
    at += 10;
  }
  return insert.run_if_allowed();
}

bool is_plain(const Settlement& settlement) {
  return settlement.to == TaskState::completed && settlement.was_attempt &&
         settlement.result.empty() && settlement.reason.empty() && settlement.follow_ups.empty() &&
         settlement.lease.place != 0;
}

std::vector<std::int64_t> settle_handful(Connection& db, SettlementHandful settlements,
                                         WallTime now) {
  EndedRows ended;
  ended.reserve(settlements.size());
  auto update = db.use(settle_sql.text(settlements.size()));
  update.bind(settlements.front()->lease.token, now).bind_pointer(3, &ended, ended_rows_type);
  int at = 4;
  for (const auto* one : settlements) update.bind_from(at++, one->lease.place);
  update.run();
  std::vector<std::int64_t> seqs;
  seqs.reserve(ended.size());
  for (const auto& row : ended) {
    db.counts().move(row.lane, TaskState::running, row.state);
    seqs.push_back(row.seq);
  }
  return seqs;
}

}  // namespace holdfast::sqlite
