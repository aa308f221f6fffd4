#include "engines/sqlite/worker_rows.hpp"

#include <fmt/format.h>
#include <boost/json.hpp>

#include "engines/sqlite/boot.hpp"

namespace holdfast::sqlite {

namespace json = boost::json;

namespace {

std::vector<std::string> texts(const json::value& list) {
  std::vector<std::string> found;
  if (!list.is_array()) return found;
  for (const auto& item : list.get_array())
    if (item.is_string()) found.emplace_back(item.get_string());
  return found;
}

void read_profile(const std::string& text, WorkerStatus& status) {
  json::error_code wrong;
  auto profile = json::parse(text, wrong);
  if (wrong || !profile.is_object()) return;
  const auto& object = profile.get_object();
  if (auto queues = object.if_contains("queues")) status.queues = texts(*queues);
  if (auto kinds = object.if_contains("kinds")) status.kinds = texts(*kinds);
  if (auto threads = object.if_contains("concurrency"); threads && threads->is_int64())
    status.concurrency = static_cast<int>(threads->get_int64());
  if (auto every = object.if_contains("heartbeat_ms"); every && every->is_int64())
    status.heartbeat_interval = Millis{every->get_int64()};
}

std::vector<TaskId> read_ids(const std::string& text) {
  std::vector<TaskId> ids;
  json::error_code wrong;
  auto list = json::parse(text, wrong);
  if (wrong) return ids;
  for (const auto& item : texts(list))
    if (auto id = TaskId::parse(item)) ids.push_back(*id);
  return ids;
}

WorkerRow read_row(const Statement& row) {
  WorkerRow read;
  auto& status = read.status;
  status.id = row.worker_id(0);
  status.host = row.text(1);
  status.pid = static_cast<int>(row.integer(2));
  read.clock = row.text(3);
  status.stale_after = read.lease = Millis{row.integer(4)};
  read.lease_until = Millis{row.integer(5)};
  status.started_at = row.time(6);
  status.last_heartbeat = row.time(7);
  read_profile(row.text(8), status);
  status.holding = read_ids(row.text(9));
  if (!row.is_null(10)) status.state = WorkerState::stopped;
  read.buried = !row.is_null(11);
  if (read.buried) status.state = WorkerState::dead;
  read.cleared = !row.is_null(12);
  status.cause = row.text(13);
  status.evidence = row.text(14);
  return read;
}

}  // namespace

std::vector<WorkerRow> worker_rows(Connection& db, WhichWorkers which) {
  std::vector<WorkerRow> rows;
  auto query = db.use(
      "SELECT id, host, pid, clock, lease, lease_until, started_at, last_heartbeat, profile,"
      " holding, stopped_at, died_at, cleared_at, cause, evidence FROM holdfast_workers"
      " WHERE ?1 OR (stopped_at IS NULL AND cleared_at IS NULL) ORDER BY seq");
  query.bind(which == WhichWorkers::all);
  while (query.step()) rows.push_back(read_row(query));
  return rows;
}

std::string profile_json(const WorkerProfile& profile) {
  json::object object;
  object["queues"] = json::value_from(profile.queues);
  object["kinds"] = json::value_from(profile.kinds);
  object["concurrency"] = profile.concurrency;
  object["heartbeat_ms"] = profile.heartbeat.count();
  return json::serialize(object);
}

std::string ids_json(std::span<const TaskId> ids) {
  std::string text = "[";
  for (const auto& id : ids) {
    if (text.size() > 1) text += ',';
    text += '"' + id.text() + '"';
  }
  return text + "]";
}

bool restarted_between(const std::string& domain, const std::string& other) {
  auto one = boot_of(domain), two = boot_of(other);
  return one != two && one != "unknown-boot" && two != "unknown-boot";
}

Sighting judge(const WorkerRow& row, std::optional<bool> locked, const std::string& clock,
               Millis now) {
  Sighting seen;
  seen.status = row.status;
  seen.buried = row.buried;
  seen.lease_until = row.lease_until;
  bool held = locked.value_or(false);
  // A held lock is the best proof of life, whatever a container makes of the boot id.
  bool restarted = !held && restarted_between(row.clock, clock);
  seen.proven_dead = restarted || locked == false;
  seen.status.proof = !locked ? "no lock file" : held ? "lock held" : "lock released";
  if (seen.buried) return seen;
  if (seen.proven_dead) {
    seen.status.state = WorkerState::dead;
    seen.status.cause = restarted ? "the machine was restarted" : "its lock is free";
  } else if (row.clock == clock && row.lease_until < now) {
    // Steady times of another time namespace mean nothing here: there only the lock counts.
    seen.stale = true;
    seen.status.cause = silence_text(
        now - row.lease_until + row.lease, false,
        held ? "its lock is still held: stopped or hung" : "it has no lock that would prove life");
  }
  return seen;
}

}  // namespace holdfast::sqlite
