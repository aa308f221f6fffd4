#include "server/remote_workers.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "server/problem.hpp"
#include "tasks/engine_parts.hpp"
#include "tasks/figures.hpp"
#include "tasks/policy.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t most_workers = 1'000;
constexpr std::size_t remembered = 1'000;

Problem no_such_worker(WorkerId worker) {
  return {410, "worker_gone",
          fmt::format("worker {} is not enlisted here, or was declared dead: it holds nothing any "
                      "more. Enlist again",
                      worker.text())};
}

}  // namespace

struct RemoteWorkers::Remote {
  struct Held {
    Claimed claimed;
    Millis renewed{0};  ///< steady
    Millis since{0};    ///< steady
  };

  std::mutex mutex;  ///< its requests, one at a time
  std::unique_ptr<Enlistment> enlistment;
  WorkerProfile profile;
  std::map<TaskId, Held> holding;
  std::deque<Lease> settled;  ///< lately, to know a repetition
  Figures figures;            ///< told to the store with its heartbeats
  Millis seen{0};             ///< steady

  bool holds_suspect() const {
    return std::ranges::any_of(holding,
                               [](const auto& held) { return held.second.claimed.suspect; });
  }
  void has_settled(const Lease& lease) {
    holding.erase(lease.id);
    settled.push_back(lease);
    if (settled.size() > remembered) settled.pop_front();
  }
};

WorkerId RemoteWorkers::enlist(const WorkerProfile& profile) {
  const auto now = engine_.parts().clock().steady();
  {
    // Who is silent for so long was declared dead; nobody will come to hear that any more.
    std::lock_guard lock{mutex_};
    std::erase_if(workers_, [&](const auto& entry) {
      return entry.second->seen + 2 * entry.second->profile.lease < now;
    });
  }
  if (count() >= most_workers)
    throw Problem{503, "busy", fmt::format("{} remote workers are enlisted already", most_workers)};
  auto& parts = engine_.parts();
  require_writable(parts);
  auto remote = std::make_shared<Remote>();
  remote->profile = profile;
  remote->seen = now;
  remote->enlistment = parts.workers().enlist(profile);
  const auto id = remote->enlistment->id();
  parts.events().emit(WorkerEnlisted{id});
  std::lock_guard lock{mutex_};
  workers_[id] = std::move(remote);
  return id;
}

std::size_t RemoteWorkers::count() const {
  std::lock_guard lock{mutex_};
  return workers_.size();
}

std::shared_ptr<RemoteWorkers::Remote> RemoteWorkers::find(WorkerId worker) const {
  std::lock_guard lock{mutex_};
  const auto found = workers_.find(worker);
  if (found == workers_.end()) throw no_such_worker(worker);
  found->second->seen = engine_.parts().clock().steady();
  return found->second;
}

void RemoteWorkers::gone(WorkerId worker) {
  std::lock_guard lock{mutex_};
  workers_.erase(worker);
}

Exchanged RemoteWorkers::exchange(WorkerId worker, const Exchange& exchange) {
  auto& parts = engine_.parts();
  auto answer = parts.tasks().exchange(exchange);
  for (const auto& damage : answer.damaged) parts.events().emit(DamageFound{damage});
  if (!parts.events().heard()) return answer;
  const auto actor = "worker/" + worker.text();
  std::set<TaskId> told;
  for (const auto& change : answer.also) {
    parts.events().emit(change);
    told.insert(change.id);
  }
  auto tell = [&](const Lease& lease, const std::string& kind, TaskState from, TaskState to,
                  int attempt, const std::string& reason) {
    if (told.contains(lease.id)) return;
    parts.events().emit(TaskChanged{
        lease.id, kind, {from, to, actor, reason, lease.token, attempt, parts.clock().wall()}});
  };
  for (std::size_t i = 0; i < exchange.settle.size(); ++i) {
    const auto& one = exchange.settle[i];
    if (answer.settled[i] == Settled::refused)
      parts.events().emit(StaleWriteRefused{one.lease.id, one.lease.token, "settlement"});
    else
      tell(one.lease, one.kind, TaskState::running, one.to, one.attempt, one.reason);
  }
  for (const auto& one : answer.claimed)
    tell(one.lease, one.kind, TaskState::pending, TaskState::running, one.attempt, {});
  return answer;
}

std::vector<Claimed> RemoteWorkers::claim(WorkerId worker, int limit, bool only_if_due) {
  const auto remote = find(worker);
  std::lock_guard lock{remote->mutex};
  const auto room = remote->profile.concurrency - static_cast<int>(remote->holding.size());
  // A suspect runs alone: nothing beside it, and none beside others.
  if (room <= 0 || remote->holds_suspect()) return {};
  ClaimRequest request{.worker = worker,
                       .queues = remote->profile.queues,
                       .kinds = remote->profile.kinds,
                       .limit = std::min(limit, room),
                       .max_suspects = 0,
                       .lease = remote->profile.lease};
  if (remote->holding.empty()) request.max_suspects = 1;
  auto& parts = engine_.parts();
  if (only_if_due) {
    const auto due = parts.tasks().next_due(request);
    if (!due || *due > parts.clock().wall()) return {};
  }
  auto answer = exchange(worker, {.claim = request});
  if (answer.buried) {
    gone(worker);
    throw no_such_worker(worker);
  }
  auto& claimed = answer.claimed;
  const auto suspect = std::ranges::find(claimed, true, &Claimed::suspect);
  if (suspect != claimed.end() && claimed.size() > 1) {
    std::iter_swap(suspect, claimed.begin());
    Exchange back;
    for (std::size_t i = 1; i < claimed.size(); ++i) back.settle.push_back(give_back(claimed[i]));
    claimed.resize(1);
    exchange(worker, back);
  }
  const auto now = parts.clock().steady();
  for (const auto& one : claimed) {
    remote->holding[one.lease.id] = {one, now, now};
    ++remote->figures.of(one.kind).started;
  }
  count_claims(remote->figures, claimed, parts.clock().wall());
  return std::move(claimed);
}

std::vector<TaskId> RemoteWorkers::heartbeat(WorkerId worker, const std::vector<TaskId>& tasks) {
  const auto remote = find(worker);
  std::lock_guard lock{remote->mutex};
  auto& parts = engine_.parts();
  std::vector<TaskId> held, stop;
  std::vector<Lease> leases;
  const auto now = parts.clock().steady();
  for (const auto& id : tasks) {
    const auto found = remote->holding.find(id);
    if (found == remote->holding.end()) {
      stop.push_back(id);
      continue;
    }
    held.push_back(id);
    leases.push_back(found->second.claimed.lease);
    found->second.renewed = now;
  }
  std::erase_if(remote->holding, [&](const auto& entry) {
    return entry.second.renewed + remote->profile.lease < now;
  });
  if (!parts.workers().beat(worker, held, remote->figures.text())) {
    gone(worker);
    throw no_such_worker(worker);
  }
  const auto renewals = parts.tasks().renew(leases, remote->profile.lease);
  for (std::size_t i = 0; i < leases.size(); ++i) {
    if (renewals[i] != Renewal::kept) stop.push_back(held[i]);
    if (renewals[i] == Renewal::lost) remote->holding.erase(held[i]);
  }
  return stop;
}

std::vector<Settled> RemoteWorkers::settle(WorkerId worker, const std::vector<RemoteEnd>& ends) {
  const auto remote = find(worker);
  std::lock_guard lock{remote->mutex};
  auto& parts = engine_.parts();
  std::vector<Settled> answers(ends.size(), Settled::refused);
  std::vector<std::size_t> asked;
  Exchange both;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const Lease lease{ends[i].id, ends[i].token};
    const auto held = remote->holding.find(lease.id);
    if (held != remote->holding.end() && held->second.claimed.lease == lease) {
      AttemptEnd end{.result_bytes = parts.settings().limits.result_bytes};
      both.settle.push_back(ends[i].give_back
                                ? give_back(held->second.claimed)
                                : settle_for(held->second.claimed, ends[i].outcome, end));
      asked.push_back(i);
    } else if (std::ranges::find(remote->settled, lease) != remote->settled.end()) {
      answers[i] = Settled::repeated;
    } else {
      parts.events().emit(StaleWriteRefused{lease.id, lease.token, "settlement"});
    }
  }
  if (both.settle.empty()) return answers;
  const auto answer = exchange(worker, both);
  count_ends(remote->figures, both.settle, answer.settled);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    answers[asked[i]] = answer.settled[i];
    const auto& lease = both.settle[i].lease;
    if (both.settle[i].was_attempt)
      remote->figures.run.add(parts.clock().steady() - remote->holding[lease.id].since);
    if (answer.settled[i] == Settled::refused)
      remote->holding.erase(lease.id);
    else
      remote->has_settled(lease);
  }
  return answers;
}

std::vector<bool> RemoteWorkers::note(WorkerId worker, const std::vector<Note>& notes) {
  const auto remote = find(worker);
  std::lock_guard lock{remote->mutex};
  std::vector<Note> known = notes;
  for (auto& note : known) {
    const auto held = remote->holding.find(note.lease.id);
    if (held == remote->holding.end()) continue;
    if (held->second.claimed.lease == note.lease) note.lease = held->second.claimed.lease;
    if (auto* log = std::get_if<LogNote>(&note.what)) log->attempt = held->second.claimed.attempt;
  }
  std::vector<bool> accepted;
  for (const auto& answer : engine_.parts().tasks().record(known))
    accepted.push_back(answer.accepted);
  return accepted;
}

void RemoteWorkers::retire(WorkerId worker) {
  const auto remote = find(worker);
  std::lock_guard lock{remote->mutex};
  Exchange back;
  for (const auto& [id, held] : remote->holding) back.settle.push_back(give_back(held.claimed));
  if (!back.settle.empty()) exchange(worker, back);
  remote->holding.clear();
  engine_.parts().workers().retire(worker, remote->figures.text());
  gone(worker);
}

}  // namespace holdfast::server
