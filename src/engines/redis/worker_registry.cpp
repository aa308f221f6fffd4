#include "engines/redis/worker_registry.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "engines/redis/durability.hpp"
#include "engines/redis/life_line.hpp"
#include "engines/redis/server_check.hpp"
#include "recovery/remains_json.hpp"

namespace holdfast::redis {

namespace {

/// A worker whose connection broke has so long to connect again before its absence proves anything.
constexpr Millis time_to_reconnect{300};
constexpr Millis pause_between_looks{100};
constexpr Millis longest_pause_between_looks{500};

class RedisEnlistment final : public HostEnlistment {
 public:
  RedisEnlistment(Store& store, WorkerId id, const WorkerProfile& profile,
                  std::uint64_t oom_kills_before)
      : HostEnlistment{store.files(), id, profile, oom_kills_before}, life_line_{store, id} {}

  LifeLine& life_line() { return life_line_; }

 private:
  LifeLine life_line_;
};

std::vector<std::string> lives_of(const std::vector<WorkerRow>& rows) {
  std::vector<std::string> lives;
  for (const auto& row : rows) lives.push_back(row.life);
  return lives;
}

Proof proof_of(const WorkerRow& row, const Living& living) {
  if (!living.knows(row.life))
    return {.seen = row.life.empty() ? "the server does not say which connections are open"
                                     : row.life + " was of a server that is not there any more",
            .cause = "it has no connection that would prove life"};
  if (living.has(row.life))
    return {Proof::Of::life, row.life + " is open",
            "its connection is still open: stopped or hung"};
  return {Proof::Of::death, row.life + " is gone", "its connection to the server is closed",
          row.life};
}

bool any_missing(const Living& living, const std::vector<WorkerRow>& rows) {
  return std::ranges::any_of(rows, [&](const WorkerRow& row) {
    return !row.buried && proof_of(row, living).of == Proof::Of::death;
  });
}

Sighting sight(Store& store, WorkerRow row, const Living& living, Millis now) {
  // As in the scripts.
  row.ahead = row.lease_until > now + 2 * row.status.stale_after;
  row.past_its_time = row.ahead || row.lease_until < now;
  row.silent = now - row.lease_until + row.status.stale_after;
  auto seen = judge(row, proof_of(row, living));
  if (seen.proven_dead) seen.remains = remains_of(row, store.files().worker(row.status.id));
  return seen;
}

}  // namespace

/// Told to those that stay: workers and servers.
void RedisWorkerRegistry::warn_of_holes() {
  std::call_once(warned_, [this] {
    for (auto& hole : look_for_holes(store_.server)) store_.events.emit(StoreWarning{hole});
  });
}

std::unique_ptr<Enlistment> RedisWorkerRegistry::enlist(const WorkerProfile& profile) {
  // A worker's log is where people look; who only asks is told by `queue status`.
  if (auto warning = look_at_persistence(store_.server).warning; !warning.empty())
    store_.events.emit(StoreWarning{warning});
  warn_of_holes();
  auto id = WorkerId::make();
  auto enlistment = std::make_unique<RedisEnlistment>(store_, id, profile, oom_kills_before_);
  auto arguments = store_.arguments();
  arguments.add(id.text())
      .add(host_name())
      .add(::getpid())
      .add(boot_of(clock_domain()))
      .add(profile.lease);
  arguments.add(profile_json(profile)).add(enlistment->life_line().first_life());
  try {
    store_.run({KillPoint::enlist_before_row, KillPoint::enlist_after_row}, scripts::enlist,
               arguments);
  } catch (const std::exception&) {
    ::unlink(store_.files().worker(id).c_str());
    throw;
  }
  enlistment->life_line().keep();
  return enlistment;
}

bool RedisWorkerRegistry::beat(WorkerId worker, std::span<const TaskId> holding,
                               std::string_view figures) {
  return store_
             .run({KillPoint::renew_before_commit, KillPoint::renew_after_commit}, scripts::beat,
                  store_.arguments()
                      .add(worker.text())
                      .add(ids_json(holding))
                      .add(std::string{figures}))
             .number() == 1;
}

void RedisWorkerRegistry::retire(WorkerId worker, std::string_view figures) {
  bool goodbye =
      store_
          .run({KillPoint::retire_before_row, KillPoint::retire_after_row}, scripts::retire,
               store_.arguments().add(worker.text()).add(std::string{figures}))
          .number() == 1;
  // If it was declared dead meanwhile, its file is evidence and goes when it is cleared.
  if (goodbye) ::unlink(store_.files().worker(worker).c_str());
}

std::vector<Sighting> RedisWorkerRegistry::look() {
  auto rows = worker_rows(store_, WhichWorkers::not_gone);
  auto living = ask_for(store_.server, lives_of(rows));
  if (any_missing(living, rows)) {
    ::poll(nullptr, 0, static_cast<int>(time_to_reconnect.count()));
    // The same server must say it again, of the same connections.
    rows = worker_rows(store_, WhichWorkers::not_gone);
    living = ask_for(store_.server, lives_of(rows));
  }
  std::vector<Sighting> sightings;
  auto now = lease_clock(store_);
  for (const auto& row : rows) sightings.push_back(sight(store_, row, living, now));
  return sightings;
}

bool RedisWorkerRegistry::bury(const Sighting& sighting, const ReportHead& report) {
  auto arguments = store_.arguments();
  arguments.add(report)
      .add(sighting.status.id.text())
      .add(sighting.witness)
      .add(sighting.lease_until);
  arguments.add(sighting.status.cause).add(sighting.remains.evidence);
  arguments.add(remains_json(sighting.remains));
  return store_
             .run({KillPoint::bury_before_commit, KillPoint::bury_after_commit}, scripts::bury,
                  arguments)
             .number() == 1;
}

bool RedisWorkerRegistry::clear(WorkerId worker) {
  bool cleared = store_
                     .run({KillPoint::clear_before_files, KillPoint::clear_before_files},
                          scripts::clear, store_.arguments().add(worker.text()))
                     .number() == 1;
  if (!cleared) return false;
  ::unlink(store_.files().worker(worker).c_str());
  kill_point(KillPoint::clear_after_files);
  return true;
}

bool RedisWorkerRegistry::somebody_died(std::size_t& workers) {
  auto rows = worker_rows(store_, WhichWorkers::not_gone);
  workers = rows.size();
  if (std::ranges::any_of(rows, [](const WorkerRow& row) { return row.buried; })) return true;
  return any_missing(ask_for(store_.server, lives_of(rows)), rows);
}

bool RedisWorkerRegistry::wait_for_death(Millis timeout, std::stop_token stop) {
  auto deadline = std::chrono::steady_clock::now() + timeout;
  warn_of_holes();
  while (!stop.stop_requested()) {
    std::size_t workers = 0;
    if (somebody_died(workers)) return true;
    auto left = std::chrono::ceil<Millis>(deadline - std::chrono::steady_clock::now());
    if (left <= Millis{0}) return false;
    // Every worker looks at every other: the more there are, the less often each does.
    auto pause = std::min(pause_between_looks + Millis{workers * 4}, longest_pause_between_looks);
    std::mutex mutex;
    std::unique_lock lock{mutex};
    std::condition_variable_any{}.wait_for(lock, stop, std::min(pause, left), [] { return false; });
  }
  return false;
}

std::vector<WorkerStatus> RedisWorkerRegistry::list() {
  auto rows = worker_rows(store_, WhichWorkers::all);
  auto living = ask_for(store_.server, lives_of(rows));
  auto now = lease_clock(store_);
  std::vector<WorkerStatus> list;
  for (const auto& row : rows) {
    bool gone = row.cleared || row.status.state == WorkerState::stopped;
    list.push_back(gone ? row.status : sight(store_, row, living, now).status);
  }
  return list;
}

std::vector<ToldFigures> RedisWorkerRegistry::figures(Millis within) {
  auto ids = store_.server.call({"ZRANGE", store_.keys.key("workers"), "0", "-1"});
  std::vector<Command> reads;
  for (std::size_t i = 0; i < ids.size(); ++i)
    reads.push_back({"HMGET", store_.keys.key("w:" + ids[i].string()), "started", "beat", "stopped",
                     "figures"});
  auto rows = store_.server.call_all(reads);
  const auto since = store_.clock().wall() - within;
  std::vector<ToldFigures> told;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto id = WorkerId::parse(ids[i].text());
    const auto at = wall_time(std::max(rows[i][1].number(), rows[i][2].number()));
    if (!id || rows[i][3].is_nil() || at < since) continue;
    told.push_back({*id, wall_time(rows[i][0].number()), at, rows[i][3].string()});
  }
  return told;
}

}  // namespace holdfast::redis
