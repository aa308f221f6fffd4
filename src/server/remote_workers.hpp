#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <holdfast/engine.hpp>
#include <holdfast/outcome.hpp>

#include "recovery/worker_registry.hpp"
#include "tasks/task_store.hpp"

namespace holdfast::server {

/// How a remote worker says that an attempt ended.
struct RemoteEnd {
  TaskId id;
  Token token;
  bool give_back = false;  ///< it was not tried; `outcome` does not count
  Outcome outcome{};
};

/// What a remote worker shows with every call, to prove that it is itself. Its id and the tokens of
/// its claims are seen by everybody who may look.
struct WorkerPass {
  WorkerId worker{};
  std::string credential{};  ///< whose request it is; the same that enlisted it
  std::string secret{};      ///< that it got when it enlisted
};

struct RemoteWorker;

/// Workers of any language that reach the store through the server. The server is enlisted for each
/// of them, so when it ends, they are dead to the store, and their work is taken back; what they
/// write after that is refused. That they may still be running it is on their boards. One that
/// falls silent is dead when its lease is over. Safe to use from many threads.
class RemoteWorkers {
 public:
  explicit RemoteWorkers(Engine engine) : engine_{std::move(engine)} {}

  /// Returns its pass.
  WorkerPass enlist(const WorkerProfile& profile, const std::string& credential);
  /// What it said when it enlisted. Throws `Problem` 410 if this worker is not known, or was
  /// declared dead, and 403 if the pass is not its own, and then changes nothing; so do all below.
  WorkerProfile profile(const WorkerPass& pass) const;
  /// Up to `limit` tasks. `only_if_due`: nothing is written where nothing is due.
  std::vector<Claimed> claim(const WorkerPass& pass, int limit, bool only_if_due);
  /// Renews what the worker says that it holds; returns what it must drop: what it lost, was
  /// cancelled or takes longer than its timeout. What it still names when it had time to stop is
  /// given up. What was claimed for it in an answer that never reached it is not renewed, so others
  /// get it when its lease is over.
  std::vector<TaskId> heartbeat(const WorkerPass& pass, const std::vector<TaskId>& tasks);
  /// One answer for each; throws `Problem` 400 where two are about the same task. `repeated` only
  /// if it had ended like this.
  std::vector<Settled> settle(const WorkerPass& pass, const std::vector<RemoteEnd>& ends);
  /// False: it does not hold that task.
  std::vector<bool> note(const WorkerPass& pass, const std::vector<Note>& notes);
  /// What it still holds is given back.
  void retire(const WorkerPass& pass);

  std::size_t count() const;

 private:
  std::shared_ptr<RemoteWorker> find(const WorkerPass& pass) const;
  void gone(WorkerId worker);
  Exchanged exchange(WorkerId worker, const Exchange& exchange);
  void give_up(WorkerId worker, RemoteWorker& remote, const Exchange& tasks);

  Engine engine_;
  mutable std::mutex mutex_;
  std::map<WorkerId, std::shared_ptr<RemoteWorker>> workers_;
};

}  // namespace holdfast::server
