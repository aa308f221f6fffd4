#include "engines/sqlite/task_admin_record.hpp"

#include <algorithm>
#include <climits>

#include <boost/json.hpp>

namespace holdfast::sqlite {

namespace {

std::vector<std::string> read_tags(const std::string& text) {
  std::vector<std::string> tags;
  boost::json::error_code wrong;
  auto list = boost::json::parse(text, wrong);
  if (wrong || !list.is_array()) return tags;
  for (const auto& tag : list.get_array())
    if (tag.is_string()) tags.emplace_back(tag.get_string());
  return tags;
}

std::vector<TaskId> read_waits_for(Connection& db, std::int64_t seq) {
  std::vector<TaskId> ids;
  auto query = db.use(
      "SELECT t.id FROM holdfast_blocks b JOIN holdfast_tasks t ON t.seq = b.on_seq"
      " WHERE b.seq = ? ORDER BY b.on_seq");
  query.bind(seq);
  while (query.step()) ids.push_back(query.task_id(0));
  return ids;
}

/// What the task is and what it is allowed: columns 0 to 10.
void read_task(const Statement& row, TaskRecord& record) {
  record.id = row.task_id(0);
  record.queue = row.text(1);
  record.kind = row.text(2);
  record.state = static_cast<TaskState>(row.integer(3));
  record.priority = static_cast<int>(row.integer(4));
  record.payload = row.text(5);
  if (!row.is_null(6)) record.tags = read_tags(row.text(6));
  record.unique_key = row.text(7);
  record.max_attempts = static_cast<int>(row.integer(8));
  record.timeout = Millis{row.integer(9)};
  record.created_at = row.time(10);
}

/// What has become of it: columns 11 to 25. The limit key is column 26.
void read_fate(const Statement& row, TaskRecord& record) {
  record.attempt = static_cast<int>(row.integer(11));
  record.recoveries = static_cast<int>(row.integer(12));
  record.crashes = static_cast<int>(row.integer(13));
  record.suspect = row.integer(14) != 0;
  record.cancel_requested = row.integer(15) != 0;
  record.token = Token{row.integer(16)};
  record.run_at = row.time(17);
  record.claimed_at = row.optional_time(18);
  record.finished_at = row.optional_time(19);
  if (!row.is_null(20)) record.worker = row.worker_id(20);
  record.result = row.text(21);
  record.error = row.text(22);
  record.cause = row.text(23);
  record.progress = row.real(24);
  record.progress_text = row.text(25);
}

}  // namespace

std::optional<TaskRecord> read_record(Connection& db, std::int64_t seq, std::size_t longest) {
  TaskRecord record;
  {
    auto query = db.use(
        "SELECT t.id, l.queue, l.kind, t.state, t.priority, substr(t.payload, 1, ?2), t.tags,"
        " t.unique_key,"
        " t.max_attempts, t.timeout, t.created_at, t.attempt, t.recoveries, t.crashes, t.suspect,"
        " t.cancel_requested, t.token, iif(t.run_at = 0, t.created_at, t.run_at), t.claimed_at, "
        "t.finished_at, w.id, substr(t.result, 1, ?2),"
        " t.error, t.cause, p.fraction, p.text, l.key, length(CAST(t.payload AS BLOB)),"
        " length(CAST(t.result AS BLOB)) FROM holdfast_tasks t"
        " JOIN holdfast_lanes l ON l.lane = t.lane"
        " LEFT JOIN holdfast_workers w ON w.seq = t.owner"
        " LEFT JOIN holdfast_progress p ON p.task = t.seq WHERE t.seq = ?1");
    // SQLite takes the length for an int, and a negative one for another question.
    const auto most = static_cast<int>(std::min<std::size_t>(longest, INT_MAX));
    if (!query.bind(seq, most).step()) return {};
    read_task(query, record);
    read_fate(query, record);
    record.limit_key = query.text(26);
    record.payload_bytes = static_cast<std::size_t>(query.integer(27));
    record.result_bytes = static_cast<std::size_t>(query.integer(28));
  }
  record.waits_for = read_waits_for(db, seq);
  return record;
}

}  // namespace holdfast::sqlite
