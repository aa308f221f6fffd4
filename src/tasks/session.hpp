#pragma once

#include <deque>
#include <memory>
#include <stop_token>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tasks/task_store.hpp"

namespace holdfast {

/// Why a handler was asked to stop.
enum class StopCause { none, timeout, cancel, shutdown, lease_lost };

/// A claimed task in this worker's hands, from the claim to the accepted settlement.
struct Job {
  enum class Phase { waiting, running, settling };

  Claimed claimed;
  Phase phase = Phase::waiting;
  Millis claim_asked_at{};  ///< steady
  Millis deadline{};        ///< steady: past this, others may own it
  Millis times_out{};       ///< steady: the attempt's timeout
  std::stop_source stop{std::nostopstate};
  StopCause cause = StopCause::none;
  Millis stopped_at{};     ///< steady: when it was asked to stop
  bool abandoned = false;  ///< settled on its behalf although the handler still runs
  bool idle = false;       ///< see `OpenAttempt::idle`
};
using JobPtr = std::shared_ptr<Job>;

/// What a worker holds and what it should do next. No threads, no I/O, no clock of its own: the
/// worker and the simulation drive it, one call at a time.
class Session {
 public:
  struct Limits {
    int concurrency = 1;
    int prefetch = 2'000;
    Millis lease{90'000};
    Millis stop_grace{10'000};
    std::size_t handful = 64;  ///< at most so many quick tasks are handed out at once
  };
  explicit Session(Limits limits) : limits_{limits} {}

  /// How many tasks to claim now. Beyond one for each free handler only as many are claimed ahead
  /// as will be started in the next moments, so that a slow task does not sit on others' work.
  int room() const;
  /// How many suspects to claim now. One runs alone, so one is enough.
  int suspect_room(Millis now) const;
  /// Whether tasks wait for a suspect to start or to end: `due` has to be asked soon.
  bool suspect_in_the_way() const;

  /// Whether handlers are busy, and have enough to start for so long without another claim.
  bool supplied_for(std::chrono::nanoseconds time) const;

  /// The store answered a claim that was asked for at `asked_at`.
  void took(std::vector<Claimed> claimed, Millis asked_at);

  /// Tasks to start now, in order; a suspect comes alone and only when nothing else runs. Several
  /// at once only while tasks are so quick that handing them out singly would cost more. Claims
  /// past their deadline are given back instead, so there may be nothing although `startable`.
  std::vector<JobPtr> start(Millis now);
  bool startable() const;
  /// A handler returned after running for `took_time`; its settlement waits to be sent. False: the
  /// attempt was given up before, and what the handler says does not count any more.
  bool finished(const JobPtr& job, Settlement settlement, std::chrono::nanoseconds took_time);
  /// The handler that got tasks from `start` has run all of them.
  void handler_free() { --running_; }
  /// An attempt that was started waits without running anything, or goes on. It keeps its place.
  void idles(const JobPtr& job, bool idle);

  /// Settlements to send. They stay until `settled`, and come again after `unsent`.
  std::vector<Settlement> settlements();
  void settled(const std::vector<Settlement>& sent);
  void unsent(std::vector<Settlement> settlements);
  bool anything_to_settle() const { return !outbox_.empty(); }

  /// Everything to renew.
  std::vector<Lease> held() const;
  /// Returns the handlers that are to stop now: lost leases and cancelled tasks.
  std::vector<JobPtr> renewed(std::span<const Lease> leases, std::span<const Renewal> renewals,
                              Millis asked_at, Millis now);

  /// Time has passed: handlers whose lease or attempt time is over are asked to stop, and those who
  /// had their grace after a timeout are given up. What waits for a suspect too long is given back.
  /// `next` is when to come again.
  struct Due {
    std::vector<JobPtr> stop;     ///< fire their stop tokens
    std::vector<JobPtr> give_up;  ///< settle for them: they do not listen
    std::size_t leases_lost = 0;
    Millis next{Millis::max()};
  };
  Due due(Millis now);

  /// No more starts: what waits is given back. Running handlers go on.
  void give_back_waiting();
  /// Of one kind only, which cannot begin here.
  void give_back_waiting(const std::string& kind);
  /// Asks every running handler to stop.
  std::vector<JobPtr> stop_all(StopCause cause, Millis now);
  /// This worker was declared dead: nothing is held any more.
  std::vector<JobPtr> lose_everything(Millis now);
  /// Gives back what handlers that do not listen still run. Returns how many.
  int abandon_running();

  /// Handlers that are busy.
  int running() const { return running_; }
  bool idle() const { return jobs_.empty(); }
  /// Lets `settlement` be sent for `job`.
  void settle_on_behalf(const JobPtr& job, Settlement settlement);

 private:
  bool alone() const;
  bool anything_runs() const { return running_ > idle_; }
  void mind_suspects(Millis now, Millis& next);
  void give_back_late(Millis now);
  void give_back_first();
  void ask_to_stop(const JobPtr& job, StopCause cause, Millis now, std::vector<JobPtr>& into);

  Limits limits_;
  std::unordered_map<TaskId, JobPtr> jobs_;
  std::deque<JobPtr> waiting_;
  std::vector<Settlement> outbox_;
  int running_ = 0;
  int idle_ = 0;  ///< of these
  int waiting_suspects_ = 0;
  JobPtr alone_{};  ///< the suspect that runs
  Millis alone_since_{};
  std::optional<Millis> suspect_waits_since_{};
  Millis patience_{1'000};  ///< how long the next suspect is waited for
  Millis no_suspects_before_ = Millis::min();
  /// Average time in a handler, in nanoseconds; starts high so that claiming ahead starts low.
  double handler_time_ = 1e8;
};

}  // namespace holdfast
