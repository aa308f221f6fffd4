#include <random>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "recovery/kill_point.hpp"
#include "tasks/live_attempt.hpp"
#include "tasks/policy.hpp"
#include "tasks/thrown.hpp"
#include "tasks/worker_impl.hpp"

namespace holdfast {

namespace {

/// How long a task stays away that found a process of its earlier attempt still running.
constexpr Millis until_it_may_have_ended{1'000};

double random01() {
  thread_local std::minstd_rand source{std::random_device{}()};
  return std::uniform_real_distribution<double>{0, 1}(source);
}

Outcome outcome_of(const Handler& handler, Attempt& attempt) {
  try {
    return handler(attempt);
  } catch (const CannotBegin&) {
    throw;
  } catch (const EarlierAttemptRuns& error) {
    attempt.log(fmt::format("{}; it is tried again later, without a charge", error.what()));
    return snooze(until_it_may_have_ended);
  } catch (...) {
    return outcome_of_thrown();
  }
}

}  // namespace

void Worker::Impl::handle(int slot) {
  while (true) {
    std::vector<JobPtr> jobs;
    std::shared_ptr<Enlistment> enlistment;
    {
      std::unique_lock lock{mutex_};
      work_ready_.wait(lock, [&] { return mode_ != Mode::working || session_.startable(); });
      if (mode_ != Mode::working) break;
      jobs = session_.start(parts_.clock().steady());
      if (jobs.empty()) {
        wake_pump();
        continue;
      }
      enlistment = enlistment_;
      for (const auto& job : jobs) {
        mind_times_of(*job);
        ++figures_.of(job->claimed.kind).started;
      }
      figures_.full += session_.running() == options_.concurrency;
    }
    // Settlements of a handful go together: it is only more than one while tasks are quick.
    std::vector<Settlement> settlements;
    auto began = std::chrono::steady_clock::now();
    settlements.reserve(jobs.size());
    for (const auto& job : jobs) {
      settlements.push_back(run_job(*job, slot, *enlistment));
      // Nobody else looks at it, and the pump has enough to do without giving it back.
      job->claimed.payload = {};
    }
    auto each = (std::chrono::steady_clock::now() - began) / jobs.size();
    std::lock_guard lock{mutex_};
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      session_.finished(jobs[i], std::move(settlements[i]), each);
    }
    figures_.run.add(std::chrono::duration_cast<TimeHistogram::Micros>(each), std::ssize(jobs));
    session_.handler_free();
    if (enlistment != enlistment_ && --strays_ == 0) enlistment_->not_alone(false);
    if (session_.startable()) work_ready_.notify_one();
    wake_pump();
  }
  std::lock_guard lock{mutex_};
  handler_threads_[static_cast<std::size_t>(slot)].returned = true;
}

Settlement Worker::Impl::run_job(Job& job, int slot, Enlistment& enlistment) {
  if (job.stop.stop_requested()) return give_back(job.claimed);
  enlistment.started(slot, job.claimed.lease);
  kill_point(KillPoint::handler_before_start);
  auto settlement = attempt(job, enlistment);
  kill_point(KillPoint::handler_after_return);
  enlistment.finished(slot);
  return settlement;
}

Settlement Worker::Impl::attempt(Job& job, Enlistment& enlistment) {
  LiveAttempt live{job,
                   parts_.tasks(),
                   enlistment,
                   settings_,
                   [this](Note note) { take_note(std::move(note)); },
                   [this, &job] { has_begun(job.claimed.kind); }};
  try {
    auto outcome = outcome_of(handlers_.at(job.claimed.kind), live);
    has_begun(job.claimed.kind);
    return settlement_of(job, outcome, live);
  } catch (const CannotBegin& error) {
    return could_not_begin(job, error);
  }
}

Settlement Worker::Impl::settlement_of(Job& job, const Outcome& outcome, LiveAttempt& live) {
  StopCause cause;
  {
    std::lock_guard lock{mutex_};
    cause = job.cause;
  }
  bool ours_to_blame = cause == StopCause::shutdown || cause == StopCause::lease_lost;
  if (ours_to_blame && !std::holds_alternative<Done>(outcome))
    return give_back(job.claimed, "Its worker stopped its handler before that was done.");
  AttemptEnd end{.cancel_requested = cause == StopCause::cancel,
                 .timed_out = cause == StopCause::timeout,
                 .random = random01(),
                 .result_bytes = settings_.limits.result_bytes};
  auto settlement = settle_for(job.claimed, outcome, end);
  if (settlement.to == TaskState::completed) {
    settlement.follow_ups = live.take_follow_ups();
    settlement.have_new_ids = live.made_all_ids();
  }
  return settlement;
}

void Worker::Impl::take_note(Note note) {
  std::lock_guard lock{mutex_};
  notes_.push_back(std::move(note));
  if (notes_.size() == 1) wake_pump();
}

}  // namespace holdfast
