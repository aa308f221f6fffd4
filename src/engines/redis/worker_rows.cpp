#include "engines/redis/worker_rows.hpp"

#include "recovery/remains_json.hpp"

namespace holdfast::redis {

namespace {

const Command row_fields{"s",        "host",   "pid",     "boot",    "lease", "until",
                         "started",  "beat",   "profile", "holding", "life",  "cause",
                         "evidence", "proven", "cleared", "remains"};

WorkerRow read_row(WorkerId id, const Value& row) {
  WorkerRow read;
  auto& status = read.status;
  status.id = id;
  auto state = row[0].number();
  status.state = state == 0   ? WorkerState::running
                 : state == 1 ? WorkerState::stopped
                              : WorkerState::dead;
  read.buried = state == 2;
  status.host = row[1].string();
  read.here = status.host == host_name();
  status.pid = static_cast<int>(row[2].number());
  read.boot = row[3].string();
  status.stale_after = Millis{row[4].number()};
  read.lease_until = Millis{row[5].number()};
  status.started_at = wall_time(row[6].number());
  status.last_heartbeat = wall_time(row[7].number());
  read_profile(row[8].text(), status);
  status.holding = ids_from_json(row[9].text());
  read.life = row[10].string();
  status.cause = row[11].string();
  status.evidence = row[12].string();
  read.proven = row[13].number() == 1;
  read.cleared = !row[14].is_nil();
  read.remains = remains_from_json(row[15].text());
  if (read.remains) read.remains->evidence = status.evidence;
  return read;
}

}  // namespace

std::vector<WorkerRow> worker_rows(Store& store, WhichWorkers which) {
  auto ids = store.server.call({"ZRANGE", store.keys.key("workers"), "0", "-1"});
  std::vector<WorkerId> known;
  std::vector<Command> reads;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto id = WorkerId::parse(ids[i].text());
    if (!id) continue;
    known.push_back(*id);
    Command read{"HMGET", store.keys.worker(*id)};
    read.insert(read.end(), row_fields.begin(), row_fields.end());
    reads.push_back(std::move(read));
  }
  auto replies = store.server.call_all(reads);
  std::vector<WorkerRow> rows;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (replies[i][0].is_nil()) continue;
    auto row = read_row(known[i], replies[i]);
    bool gone = row.cleared || row.status.state == WorkerState::stopped;
    if (which == WhichWorkers::all || !gone) rows.push_back(std::move(row));
  }
  return rows;
}

Millis lease_clock(Store& store) {
  if (store.test_clock) return store.test_clock->steady();
  auto time = store.server.call({"TIME"});
  return Millis{time[0].number() * 1'000 + time[1].number() / 1'000};
}

}  // namespace holdfast::redis
