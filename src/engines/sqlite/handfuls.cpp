#include "engines/sqlite/handfuls.hpp"

#include <fmt/format.h>

#include "engines/sqlite/statements.hpp"

namespace holdfast::sqlite {

namespace {

std::string repeated(const char* row, std::size_t times) {
  return fmt::format("{}", fmt::join(std::vector<std::string>(times, row), ", "));
}

const std::string insert_sql =
    "INSERT INTO holdfast_tasks (id, lane, state, priority, run_at, created_at, max_attempts,"
    " timeout, payload) VALUES " +
    repeated("(?, ?, 0, ?, ?, ?, ?, ?, ?)", tasks_in_handful);

const std::string settle_sql =
    "WITH ended (id, token, attempt, at) AS (VALUES " +
    repeated("(?, ?, ?, ?)", settlements_in_handful) +
    ") UPDATE holdfast_tasks AS task SET state = 2, finished_at = ended.at,"
    " attempt = ended.attempt, result = NULL, suspect = 0, cancel_requested = 0,"
    " lease_until = NULL FROM ended WHERE" HOLDFAST_TOKEN_GUARD_OF("task",
                                                                   "ended") " RETURNING id, token";

}  // namespace

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
    insert.bind_from(at, id, lane, options.priority, due(options, now), now, options.max_attempts,
                     options.timeout, task->payload);
    at += 8;
  }
  return insert.run_if_allowed();
}

bool is_plain(const Settlement& settlement) {
  return settlement.to == TaskState::completed && settlement.was_attempt &&
         settlement.result.empty() && settlement.reason.empty() && settlement.follow_ups.empty();
}

std::unordered_map<TaskId, Token> settle_handful(Connection& db, SettlementHandful settlements,
                                                 WallTime now) {
  std::unordered_map<TaskId, Token> accepted;
  auto update = db.use(settle_sql);
  int at = 1;
  for (const auto* one : settlements) {
    update.bind_from(at, one->lease.id, one->lease.token, one->attempt, now);
    at += 4;
  }
  while (update.step()) accepted.emplace(update.task_id(0), Token{update.integer(1)});
  return accepted;
}

}  // namespace holdfast::sqlite
