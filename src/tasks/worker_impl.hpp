#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <future>
#include <mutex>
#include <thread>

#include <holdfast/error.hpp>
#include <holdfast/worker.hpp>

#include "tasks/engine_parts.hpp"
#include "tasks/figures.hpp"
#include "tasks/kind_breaker.hpp"
#include "tasks/scheduler.hpp"
#include "tasks/session.hpp"
#include "tasks/watch.hpp"

namespace holdfast {

class LiveAttempt;

/// Until a store that cannot be reached is tried again.
inline constexpr Millis retry_beat{1'000};

/// The threads of a worker around a `Session`:
///
///     pump      (the caller of run) settles and claims; the only one that starts and ends things
///     handlers  run tasks; where they are asynchronous, one thread hands attempts out, and whoever
///               has them ends them
///     heart     heartbeats and renews
///     timer     stops handlers whose time is over; touches no store, so a store that hangs cannot
///               keep it from doing so
///     watch     notices deaths and recovers, and removes old history
///     calendar  fires schedules that are due
///
/// Handlers that do not come back in time are left behind, so all of it is shared with the threads.
class Worker::Impl : public std::enable_shared_from_this<Worker::Impl> {
 public:
  Impl(const Tasks& tasks, WorkerOptions options);

  WorkerSummary run();
  void rest();
  void drain();
  void hurry();

 private:
  /// In this order, and never back.
  enum class Mode { working, resting, draining, hurrying, ended };

  // Pump.
  void begin();  ///< recovers and enlists, however often it takes
  void work();
  /// Lets settlements come together: a step to the store costs about as much with one of them as
  /// with many. Not while handlers would run out of tasks.
  void gather();
  bool may_gather() const;  ///< with the mutex held
  bool turn();              ///< one settle-and-claim; false: nothing to do but wait
  void send_notes(const std::vector<Note>& notes);
  bool send(std::vector<Settlement> settlements, int claim);
  /// Settles many while the pump goes on claiming. One of these at a time: what ends meanwhile is
  /// for the next.
  void settle_beside(std::vector<Settlement> settlements);
  bool settles_beside();     ///< one is on its way; throws what it threw if it is over
  void wait_for_settling();  ///< likewise
  /// One of them cannot be settled as it is, and took the others with it.
  bool send_singly(std::vector<Settlement> settlements, const InvalidRequest& error);
  void account(const std::vector<Settlement>& sent, const Exchanged& answer);
  void wait_for_news();
  void listen(Millis timeout);  ///< hears of work, and of tasks that are to stop
  Millis time_to_wait();
  bool nothing_left();
  void enlist();
  void was_buried();
  void finish();
  void say_goodbye();
  void start_threads();
  ClaimRequest claim_request(int limit, int suspects) const;
  /// With the mutex held: the same without kinds that cannot begin here. No kinds: claim nothing.
  ClaimRequest careful_claim(int limit, int suspects) const;
  void require_hope();  ///< throws if no handler has been able to begin for long

  // Handlers.
  void handle(int slot);
  Settlement run_job(Job& job, int slot, Enlistment& enlistment);
  Settlement attempt(Job& job, Enlistment& enlistment);
  /// A handler could not begin: gives its task back, and those of its kind that wait.
  /// Whether its task may be claimed at once, or when this worker looks again.
  enum class Comes { at_once, later };
  Settlement could_not_begin(const Job& job, const CannotBegin& error, Comes = Comes::at_once);
  void has_begun(const std::string& kind);
  Settlement settlement_of(Job& job, const Outcome& outcome, LiveAttempt& live);
  void take_note(Note note);

  // Asynchronous handlers.
  class Open;
  bool asynchronous() const { return !async_handlers_.empty(); }
  void hand_out();
  /// With the mutex held: there is so little room that it is worth while to wait for more. A thread
  /// that is woken for every single end costs more than what it then starts.
  bool nearly_full() const;
  void hand_out(const JobPtr& job, int slot, const std::shared_ptr<Enlistment>& enlistment);
  void ended(Open& open, const Outcome& outcome);
  void settles(Open& open, Settlement settlement);
  void idles(Open& open, bool idle);
  void outlasts_timeout(Open& open);

  // Heart and timer.
  void beat();
  void beat_once();
  void leave_if_moved();
  void send_beat();
  bool anything_to_tell();
  std::string take_figures();
  void renew_held();
  void watch_time();
  void stop(const std::vector<JobPtr>& jobs);
  void mind_times_of(const Job& job);  ///< with the mutex held

  // Calendar.
  void keep_schedules();
  Millis fire_schedules();  ///< one round; how long to wait for the next

  // Watch.
  void watch();

  void go_on_to(Mode mode);
  bool ends() const { return mode_ >= Mode::draining; }  ///< with the mutex held
  void note_standing();                                  ///< likewise: for the next heartbeat
  void trouble(const char* what, const std::exception& error);
  void storage_failed();
  void wake_pump();  ///< with the mutex held
  std::shared_ptr<Enlistment> enlistment();
  bool pause(Millis time);  ///< for the helping threads; false: the worker ends

  EngineParts& parts_;
  Engine engine_;
  std::map<std::string, Handler> handlers_;
  std::map<std::string, AsyncHandler> async_handlers_;
  std::vector<std::string> kinds_;
  WorkerOptions options_;
  Settings settings_;
  Watch watch_;
  Scheduler scheduler_;

  std::mutex mutex_;  // guards everything below
  std::condition_variable work_ready_, timer_due_, ended_;
  Session session_;
  KindBreaker breaker_;
  std::atomic<bool> any_paused_ = false;  ///< whether the breaker has anything to say
  Mode mode_ = Mode::working;
  std::shared_ptr<Enlistment> enlistment_;
  int strays_ = 0;  ///< handlers that still run under an earlier enlistment
  std::vector<Note> notes_;
  WorkerSummary summary_;
  Figures figures_;  ///< since it enlisted
  Figures told_;     ///< of these, what a heartbeat has carried
  std::exception_ptr fatal_;
  std::atomic<bool> ran_ = false;
  bool was_moved_ = false;  ///< the store, to another one
  bool hungry_ = false;     ///< the last claim got less than it asked for
  bool look_again_ = true;  ///< something happened since: claim again
  bool pump_waits_ = false;
  bool pump_gathers_ = false;  ///< it waits, but not for a single settlement
  std::chrono::steady_clock::time_point last_step_{};
  Millis timer_wakes_{0};        ///< steady: when it looks again by itself
  std::vector<int> free_slots_;  ///< of the board, for asynchronous attempts
  bool hands_gather_ = false;    ///< who hands them out waits for more of these
  std::stop_source stop_watch_;

  struct Thread {
    std::thread thread;
    bool returned = false;
  };
  std::vector<Thread> handler_threads_;
  std::vector<std::thread> threads_;
  std::future<void> settling_;  ///< only the pump knows it; the last, because going away it waits
};

}  // namespace holdfast
