#include "tasks/session.hpp"

#include <algorithm>

#include "tasks/policy.hpp"

namespace holdfast {

namespace {

/// Claim ahead what will be started within this time.
constexpr double look_ahead_ns = 20e6;
/// Handlers quicker than this get several tasks at once.
constexpr double quick_ns = 200e3;
/// What was claimed ahead of a suspect that turns out to take longer is left to others.
constexpr Millis longest_wait_for_suspect{100};
constexpr Millis first_patience{1'000}, longest_patience{600'000};

}  // namespace

bool Session::alone() const {
  // One that was given up, or is not ours any more, may go on for ever: nobody waits for it.
  return alone_ && !alone_->abandoned && alone_->cause != StopCause::lease_lost;
}

int Session::suspect_room(Millis now) const {
  return waiting_suspects_ == 0 && !alone() && now >= no_suspects_before_ ? 1 : 0;
}

int Session::room() const {
  if (alone()) return 0;
  // Settlements that pile up mean that the store does not keep up (or is away).
  if (outbox_.size() > static_cast<std::size_t>(4 * limits_.prefetch + limits_.concurrency))
    return 0;
  double ahead = limits_.concurrency * look_ahead_ns / std::max(handler_time_, 1.0);
  int wanted = limits_.concurrency + static_cast<int>(std::min<double>(ahead, limits_.prefetch));
  return std::max(0, wanted - running_ - static_cast<int>(waiting_.size()));
}

bool Session::supplied_for(std::chrono::nanoseconds time) const {
  if (running_ == 0 || alone()) return false;
  auto started = limits_.concurrency * static_cast<double>(time.count()) / handler_time_;
  return static_cast<double>(waiting_.size()) >= started;
}

void Session::took(std::vector<Claimed> claimed, Millis asked_at) {
  // A tenth of the lease is kept as a margin: we stop before anybody else may start.
  auto deadline = asked_at + limits_.lease - limits_.lease / 10;
  // What is claimed together is kept in one piece of memory.
  auto jobs = std::make_shared<std::vector<Job>>(claimed.size());
  for (std::size_t i = 0; i < claimed.size(); ++i) {
    JobPtr job{jobs, &(*jobs)[i]};
    job->claimed = std::move(claimed[i]);
    job->claim_asked_at = asked_at;
    job->deadline = deadline;
    waiting_suspects_ += job->claimed.suspect;
    // A task that we hold already comes back under a new token when its lease was lost meanwhile.
    jobs_[job->claimed.lease.id] = job;
    waiting_.push_back(std::move(job));
  }
}

bool Session::startable() const {
  if (waiting_.empty() || alone() || running_ >= limits_.concurrency) return false;
  return !waiting_.front()->claimed.suspect || !anything_runs();
}

std::vector<JobPtr> Session::start(Millis now) {
  std::vector<JobPtr> started;
  give_back_late(now);
  if (!startable()) return started;
  std::size_t handful = 1;
  if (handler_time_ < quick_ns) {
    handful = waiting_.size() / static_cast<std::size_t>(2 * limits_.concurrency);
    handful = std::clamp<std::size_t>(handful, 1, limits_.handful);
  }
  while (started.size() < handful && !waiting_.empty()) {
    auto& next = waiting_.front();
    if (next->claimed.suspect && (anything_runs() || !started.empty())) break;
    if (now >= next->deadline) break;
    next->phase = Job::Phase::running;
    next->times_out = now + next->claimed.timeout;
    next->stop = std::stop_source{};
    bool suspect = next->claimed.suspect;
    if (suspect) {
      alone_ = next;
      alone_since_ = now;
      patience_ = first_patience;
    }
    waiting_suspects_ -= suspect;
    started.push_back(std::move(next));
    waiting_.pop_front();
    if (suspect) break;
  }
  // A handful counts as one: it occupies one handler.
  if (!started.empty()) ++running_;
  return started;
}

bool Session::suspect_in_the_way() const {
  if (waiting_.empty()) return false;
  return alone() || (waiting_.front()->claimed.suspect && anything_runs());
}

/// A suspect waits until nothing else runs here, others wait behind it, and all of them could run
/// elsewhere. So it is given back after a while. But where every worker is always busy somebody has
/// to make way for it in the end, so each time it is waited for longer.
void Session::mind_suspects(Millis now, Millis& next) {
  if (!suspect_in_the_way()) {
    suspect_waits_since_.reset();
    return;
  }
  auto since = alone() ? alone_since_ : suspect_waits_since_.value_or(now);
  auto until = since + (alone() ? longest_wait_for_suspect : patience_);
  if (now < until) {
    if (!alone()) suspect_waits_since_ = since;
    next = std::min(next, until);
    return;
  }
  suspect_waits_since_.reset();
  if (alone()) return give_back_waiting();
  no_suspects_before_ = now + patience_;
  patience_ = std::min(2 * patience_, longest_patience);
  give_back_first();
}

void Session::give_back_first() {
  auto first = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_suspects_ -= first->claimed.suspect;
  settle_on_behalf(first, give_back(first->claimed));
}

/// What waited until its lease was over (this process was stopped, or the store was away) may be
/// somebody else's by now: it is not started.
void Session::give_back_late(Millis now) {
  while (!waiting_.empty() && now >= waiting_.front()->deadline) give_back_first();
}

bool Session::finished(const JobPtr& job, Settlement settlement,
                       std::chrono::nanoseconds took_time) {
  // What is given back at once says nothing of how soon others will be started.
  if (settlement.was_attempt)
    handler_time_ = 0.9 * handler_time_ + 0.1 * static_cast<double>(took_time.count());
  idles(job, false);
  if (job == alone_) alone_.reset();
  if (job->abandoned) return false;
  settle_on_behalf(job, std::move(settlement));
  return true;
}

void Session::idles(const JobPtr& job, bool idle) {
  if (std::exchange(job->idle, idle) == idle) return;
  idle_ += idle ? 1 : -1;
  if (idle && job == alone_) alone_.reset();
}

void Session::settle_on_behalf(const JobPtr& job, Settlement settlement) {
  job->phase = Job::Phase::settling;
  outbox_.push_back(std::move(settlement));
}

std::vector<Settlement> Session::settlements() {
  auto settlements = std::exchange(outbox_, {});
  outbox_.reserve(settlements.size());
  return settlements;
}

void Session::unsent(std::vector<Settlement> settlements) {
  outbox_.insert(outbox_.begin(), std::make_move_iterator(settlements.begin()),
                 std::make_move_iterator(settlements.end()));
}

void Session::settled(const std::vector<Settlement>& sent) {
  for (const auto& settlement : sent) {
    auto at = jobs_.find(settlement.lease.id);
    if (at != jobs_.end() && at->second->claimed.lease == settlement.lease) jobs_.erase(at);
  }
}

std::vector<Lease> Session::held() const {
  std::vector<Lease> leases;
  leases.reserve(jobs_.size());
  for (const auto& [id, job] : jobs_) {
    if (!job->abandoned) leases.push_back(job->claimed.lease);
  }
  return leases;
}

std::vector<JobPtr> Session::renewed(std::span<const Lease> leases,
                                     std::span<const Renewal> renewals, Millis asked_at,
                                     Millis now) {
  std::vector<JobPtr> stop;
  auto deadline = asked_at + limits_.lease - limits_.lease / 10;
  for (std::size_t i = 0; i < leases.size(); ++i) {
    auto at = jobs_.find(leases[i].id);
    if (at == jobs_.end() || at->second->claimed.lease != leases[i]) continue;
    auto job = at->second;
    if (renewals[i] != Renewal::lost) {
      job->deadline = deadline;
      if (renewals[i] == Renewal::cancelled) ask_to_stop(job, StopCause::cancel, now, stop);
      continue;
    }
    // A settlement on its way may be the very reason; its answer will tell.
    if (job->phase == Job::Phase::settling) continue;
    ask_to_stop(job, StopCause::lease_lost, now, stop);
    if (job->phase == Job::Phase::waiting) {
      std::erase(waiting_, job);
      waiting_suspects_ -= job->claimed.suspect;
      jobs_.erase(at);
    }
  }
  return stop;
}

void Session::ask_to_stop(const JobPtr& job, StopCause cause, Millis now,
                          std::vector<JobPtr>& into) {
  if (job->phase != Job::Phase::running || job->cause != StopCause::none) return;
  job->cause = cause;
  job->stopped_at = now;
  into.push_back(job);
}

Session::Due Session::due(Millis now) {
  Due due;
  for (const auto& [id, job] : jobs_) {
    if (job->phase != Job::Phase::running || job->abandoned) continue;
    auto before = due.stop.size();
    if (now >= job->deadline) {
      ask_to_stop(job, StopCause::lease_lost, now, due.stop);
      due.leases_lost += due.stop.size() - before;
    }
    if (now >= job->times_out) ask_to_stop(job, StopCause::timeout, now, due.stop);
    bool graceful = job->cause == StopCause::timeout || job->cause == StopCause::cancel;
    if (graceful && now >= job->stopped_at + limits_.stop_grace) {
      due.give_up.push_back(job);
      continue;
    }
    if (graceful) due.next = std::min(due.next, job->stopped_at + limits_.stop_grace);
    if (job->cause == StopCause::none) {
      due.next = std::min({due.next, job->deadline, job->times_out});
    }
  }
  for (const auto& job : due.give_up) job->abandoned = true;
  mind_suspects(now, due.next);
  return due;
}

void Session::give_back_waiting() {
  for (auto& job : waiting_) settle_on_behalf(job, give_back(job->claimed));
  waiting_.clear();
  waiting_suspects_ = 0;
}

void Session::give_back_waiting(const std::string& kind) {
  std::erase_if(waiting_, [&](const JobPtr& job) {
    if (job->claimed.kind != kind) return false;
    waiting_suspects_ -= job->claimed.suspect;
    settle_on_behalf(job, give_back(job->claimed));
    return true;
  });
}

std::vector<JobPtr> Session::stop_all(StopCause cause, Millis now) {
  std::vector<JobPtr> stop;
  for (const auto& [id, job] : jobs_) ask_to_stop(job, cause, now, stop);
  return stop;
}

std::vector<JobPtr> Session::lose_everything(Millis now) {
  auto stop = stop_all(StopCause::lease_lost, now);
  waiting_.clear();
  waiting_suspects_ = 0;
  std::erase_if(jobs_,
                [](const auto& entry) { return entry.second->phase == Job::Phase::waiting; });
  return stop;
}

int Session::abandon_running() {
  int abandoned = 0;
  for (const auto& [id, job] : jobs_) {
    if (job->phase != Job::Phase::running || job->abandoned) continue;
    job->abandoned = true;
    settle_on_behalf(job, give_back(job->claimed, "Its worker ended while its handler went on."));
    ++abandoned;
  }
  return abandoned;
}

}  // namespace holdfast
