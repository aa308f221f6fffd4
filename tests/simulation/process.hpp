#pragma once

#include <deque>
#include <memory>
#include <vector>

#include <holdfast/outcome.hpp>

#include "simulation/world.hpp"
#include "tasks/session.hpp"

namespace holdfast::sim {

/// A worker process: the real session and the real proof of life, driven step by step as the
/// threads of a worker would. Its pump, its heart and its handlers may be in the middle of
/// something at the same time.
class Process {
 public:
  struct Traits {
    int concurrency = 2;
    bool quick = false;  ///< its tasks are so quick that handlers get several at once
  };
  Process(World& world, Traits traits, int number);

  bool alive() const { return alive_; }
  bool is(WorkerId worker) const { return alive_ && enlistment_->id() == worker; }
  bool able() const { return alive_ && !paused_; }

  /// One of its threads does something.
  void step();
  void pump();
  void heart();
  void timer();
  void handlers();

  /// `kill -9`.
  void crash();
  /// SIGSTOP and SIGCONT.
  void pause(bool paused) { paused_ = paused; }
  bool paused() const { return paused_; }
  /// SIGTERM.
  void drain() { draining_ = true; }

 private:
  /// A handler thread with the tasks that it was given.
  struct Hand {
    int slot = 0;
    std::deque<JobPtr> todo;
    JobPtr job;  ///< in the handler now
    std::shared_ptr<Enlistment> enlistment;
    std::vector<std::pair<JobPtr, Settlement>> done{};
    bool busy = false;  ///< in the middle of a call
  };

  void enlist();
  void was_buried();
  void exchange();
  void account(const Exchange& sent, const Exchanged& answer, Millis asked_at);
  void beat();
  void renew();
  void shut_down();
  void leave();
  void start();
  void carry_on(Hand& hand);
  void begin(Hand& hand);
  void record(Hand& hand);
  void end(Hand& hand);
  void free(Hand& hand);
  void let_go(std::shared_ptr<Enlistment>& enlistment);
  std::vector<Lease> running() const;
  Outcome outcome(Entry& task, bool asked_to_stop);
  Settlement settlement_for(const Job& job);
  void fire(const std::vector<JobPtr>& jobs);
  void get_quick();

  World& world_;
  Traits traits_;
  int number_;
  Session session_;
  std::shared_ptr<Enlistment> enlistment_;
  std::vector<std::unique_ptr<Hand>> hands_;
  bool alive_ = true;
  bool paused_ = false;
  bool draining_ = false;
  bool asked_to_stop_ = false;
  bool pumping_ = false;
  bool beating_ = false;
  bool hungry_ = false;  ///< the last claim got less than it asked for
  int strays_ = 0;       ///< handlers that still run under an earlier enlistment
};

}  // namespace holdfast::sim
