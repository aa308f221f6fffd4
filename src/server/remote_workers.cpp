#include "server/remote_workers.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "server/descriptors.hpp"
#include "server/problem.hpp"
#include "server/remote_worker.hpp"
#include "server/secrets.hpp"
#include "tasks/engine_parts.hpp"
#include "tasks/figures.hpp"
#include "tasks/perform_exchange.hpp"
#include "tasks/policy.hpp"

namespace holdfast::server {

namespace {

Problem no_such_worker(WorkerId worker) {
  return {410, "worker_gone",
          fmt::format("worker {} is not enlisted here, or was declared dead: it holds nothing any "
                      "more. Enlist again",
                      worker.text())};
}

Problem wrong_pass(const WorkerPass& pass) {
  if (pass.secret.empty())
    return {403, "wrong_worker",
            "the header Holdfast-Worker-Secret is missing; send the secret that the worker got "
            "when it enlisted. Nothing was changed"};
  return {403, "wrong_worker",
          fmt::format("worker {} was enlisted by another credential, or Holdfast-Worker-Secret is "
                      "not the secret that it got when it enlisted. Nothing was changed",
                      pass.worker.text())};
}

void check_once_each(const std::vector<RemoteEnd>& ends) {
  std::set<TaskId> named;
  for (const auto& end : ends)
    if (!named.insert(end.id).second)
      throw invalid(
          fmt::format("task {} is settled twice in one request; how did it end?", end.id.text()));
}

}  // namespace

WorkerPass RemoteWorkers::enlist(const WorkerProfile& profile, const std::string& credential) {
  const auto now = engine_.parts().clock().steady();
  {
    // Who is silent for so long was declared dead; nobody will come to hear that any more.
    std::lock_guard lock{mutex_};
    std::erase_if(workers_, [&](const auto& entry) {
      return entry.second->seen + 2 * entry.second->profile.lease < now;
    });
  }
  // Each keeps descriptors, of which connections and stores need theirs.
  auto seat = take_worker_seat();
  if (!seat)
    throw Problem{
        503, "busy",
        fmt::format(
            "{} remote workers are enlisted already, as many as this server has descriptors "
            "for; enlist fewer with more slots each, or raise the limit of open files",
            worker_seats())};
  auto& parts = engine_.parts();
  require_writable(parts);
  auto remote = std::make_shared<RemoteWorker>();
  remote->profile = profile;
  remote->profile.remote = true;
  WorkerPass pass{.credential = credential, .secret = random_secret()};
  remote->credential = credential;
  remote->fingerprint = fingerprint(pass.secret);
  for (int slot = profile.concurrency; slot-- > 0;) remote->free_slots.push_back(slot);
  remote->seen = now;
  remote->seat = std::move(seat);
  remote->enlistment = parts.workers().enlist(remote->profile);
  pass.worker = remote->enlistment->id();
  parts.events().emit(WorkerEnlisted{pass.worker});
  std::lock_guard lock{mutex_};
  workers_[pass.worker] = std::move(remote);
  return pass;
}

std::size_t RemoteWorkers::count() const {
  std::lock_guard lock{mutex_};
  return workers_.size();
}

std::shared_ptr<RemoteWorker> RemoteWorkers::find(const WorkerPass& pass) const {
  std::lock_guard lock{mutex_};
  const auto found = workers_.find(pass.worker);
  if (found == workers_.end()) throw no_such_worker(pass.worker);
  const auto& remote = *found->second;
  if (!same_secret(fingerprint(pass.secret), remote.fingerprint) ||
      pass.credential != remote.credential)
    throw wrong_pass(pass);
  found->second->seen = engine_.parts().clock().steady();
  return found->second;
}

WorkerProfile RemoteWorkers::profile(const WorkerPass& pass) const { return find(pass)->profile; }

void RemoteWorkers::gone(WorkerId worker) {
  std::lock_guard lock{mutex_};
  workers_.erase(worker);
}

Exchanged RemoteWorkers::exchange(WorkerId worker, const Exchange& exchange) {
  return perform_exchange(engine_.parts(), worker, exchange);
}

std::vector<Claimed> RemoteWorkers::claim(const WorkerPass& pass, int limit, bool only_if_due) {
  const auto remote = find(pass);
  const auto worker = pass.worker;
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
    remote->take(one, now);
    ++remote->figures.of(one.kind).started;
  }
  count_claims(remote->figures, claimed, parts.clock().wall());
  return std::move(claimed);
}

std::vector<TaskId> RemoteWorkers::heartbeat(const WorkerPass& pass,
                                             const std::vector<TaskId>& tasks) {
  const auto remote = find(pass);
  const auto worker = pass.worker;
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
  remote->drop_not_renewed_since(now - remote->profile.lease);
  if (!parts.workers().beat(worker, held, remote->figures.text())) {
    gone(worker);
    throw no_such_worker(worker);
  }
  const auto renewals = parts.tasks().renew(leases, remote->profile.lease);
  Exchange given_up;
  for (std::size_t i = 0; i < leases.size(); ++i) {
    if (renewals[i] == Renewal::lost) remote->drop(held[i]);
    auto* task = remote->find(leases[i]);
    if (task && renewals[i] == Renewal::cancelled) task->cancel(now);
    if (task) task->look_at_clock(now);
    if (!task || task->is_to_stop()) stop.push_back(held[i]);
    if (task && task->is_to_stop() && now >= task->stops + parts.settings().worker.stop_grace)
      given_up.settle.push_back(task->ends(Retry{"did not stop"}, parts.settings()));
  }
  give_up(worker, *remote, given_up);
  return stop;
}

/// It goes on for all we know, and names what it should have dropped: then others get that.
void RemoteWorkers::give_up(WorkerId worker, RemoteWorker& remote, const Exchange& tasks) {
  if (tasks.settle.empty()) return;
  const auto answer = exchange(worker, tasks);
  count_ends(remote.figures, tasks.settle, answer.settled);
  for (const auto& one : tasks.settle) {
    remote.drop(one.lease.id);
    engine_.parts().events().emit(HandlerIgnoresStop{one.lease.id, one.kind});
  }
}

std::vector<Settled> RemoteWorkers::settle(const WorkerPass& pass,
                                           const std::vector<RemoteEnd>& ends) {
  check_once_each(ends);
  const auto remote = find(pass);
  const auto worker = pass.worker;
  std::lock_guard lock{remote->mutex};
  auto& parts = engine_.parts();
  std::vector<Settled> answers(ends.size(), Settled::refused);
  std::vector<std::size_t> asked;
  Exchange both;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const Lease lease{ends[i].id, ends[i].token};
    const EndKind kind{ends[i]};
    if (auto* held = remote->find(lease)) {
      held->look_at_clock(parts.clock().steady());
      both.settle.push_back(ends[i].give_back ? give_back(held->claimed)
                                              : held->ends(ends[i].outcome, parts.settings()));
      if (!held->in_doubt) held->in_doubt = kind;
      asked.push_back(i);
    } else if (remote->has_settled_before(lease, kind)) {
      answers[i] = Settled::repeated;
    } else {
      parts.events().emit(StaleWriteRefused{lease.id, lease.token, "settlement"});
    }
  }
  if (both.settle.empty()) return answers;
  const auto answer = perform_exchange(parts, worker, both, [&](Exchanged& came) {
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto& held = remote->holding.at(both.settle[i].lease.id);
      // The store knows that this claim was settled, and not how.
      if (came.settled[i] == Settled::repeated && held.in_doubt != EndKind{ends[asked[i]]})
        came.settled[i] = Settled::refused;
      answers[asked[i]] = came.settled[i];
    }
  });
  count_ends(remote->figures, both.settle, answer.settled);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto& lease = both.settle[i].lease;
    if (answer.settled[i] == Settled::refused) {
      remote->drop(lease.id);
      continue;
    }
    if (both.settle[i].was_attempt)
      remote->figures.run.add(parts.clock().steady() - remote->holding.at(lease.id).since);
    remote->has_settled(lease, EndKind{ends[asked[i]]});
  }
  return answers;
}

std::vector<bool> RemoteWorkers::note(const WorkerPass& pass, const std::vector<Note>& notes) {
  const auto remote = find(pass);
  std::lock_guard lock{remote->mutex};
  // A task that another one holds is not written to, whatever token is named: viewers see tokens.
  std::vector<bool> accepted(notes.size(), false);
  std::vector<Note> known;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const auto* held = remote->find(notes[i].lease);
    if (!held) continue;
    auto& note = known.emplace_back(notes[i]);
    note.lease = held->claimed.lease;
    if (auto* log = std::get_if<LogNote>(&note.what)) log->attempt = held->claimed.attempt;
    places.push_back(i);
  }
  if (known.empty()) return accepted;
  const auto answers = engine_.parts().tasks().record(known);
  for (std::size_t i = 0; i < answers.size(); ++i) accepted[places[i]] = answers[i].accepted;
  return accepted;
}

void RemoteWorkers::retire(const WorkerPass& pass) {
  const auto remote = find(pass);
  const auto worker = pass.worker;
  std::lock_guard lock{remote->mutex};
  Exchange back;
  for (const auto& [id, held] : remote->holding) back.settle.push_back(give_back(held.claimed));
  if (!back.settle.empty()) exchange(worker, back);
  remote->drop_not_renewed_since(Millis::max());
  engine_.parts().workers().retire(worker, remote->figures.text());
  gone(worker);
}

}  // namespace holdfast::server
