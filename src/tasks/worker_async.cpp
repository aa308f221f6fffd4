#include <holdfast/error.hpp>

#include "recovery/kill_point.hpp"
#include "tasks/live_attempt.hpp"
#include "tasks/thrown.hpp"
#include "tasks/worker_impl.hpp"

namespace holdfast {

namespace {

/// So many are handed out before the lock is taken again.
constexpr std::size_t handed_out_at_once = 64;
/// So long at most ends are let come together before others are handed out in their places.
constexpr Millis handing_time{1};

}  // namespace

/// Keeps the worker in memory for as long as somebody has the attempt; it may outlive the run.
class Worker::Impl::Open final : public OpenAttempt, public OwnAttempt, public OwnOpenAttempt {
 public:
  Open(std::shared_ptr<Impl> worker, JobPtr job, int slot, std::shared_ptr<Enlistment> enlistment)
      : worker_{std::move(worker)},
        job_{std::move(job)},
        slot_{slot},
        enlistment_{std::move(enlistment)},
        live_{*job_,
              worker_->parts_.tasks(),
              *enlistment_,
              worker_->settings_,
              [this](Note note) { worker_->take_note(std::move(note)); },
              [this] { worker_->has_begun(job_->claimed.kind); }} {}

  ~Open() override { end(retry("its handler let go of it without saying how it ended")); }

  TaskId task() const override { return live_.task(); }
  const std::string& kind() const override { return live_.kind(); }
  const std::string& queue() const override { return live_.queue(); }
  const std::string& payload() const override { return live_.payload(); }
  int number() const override { return live_.number(); }
  int max_attempts() const override { return live_.max_attempts(); }
  Token token() const override { return live_.token(); }
  std::stop_token stop_token() const override { return live_.stop_token(); }
  void progress(double fraction, std::string_view text) override { live_.progress(fraction, text); }
  void log(std::string_view line) override { live_.log(line); }
  TaskId then_json(std::string follow_up, std::string text, TaskOptions options) override {
    return live_.then_json(std::move(follow_up), std::move(text), std::move(options));
  }
  std::string record_once(std::string_view key, std::string_view value) override {
    return live_.record_once(key, value);
  }
  int child_lock() override { return live_.child_lock(); }
  int open_shared_lock() override { return live_.open_shared_lock(); }
  void share_lock(int lock) override { live_.share_lock(lock); }
  TaskId add_own(NewTask follow_up) override { return live_.add_own(std::move(follow_up)); }
  void begun() override { live_.begun(); }

  void end(Outcome outcome) override {
    if (!ended_.exchange(true)) worker_->ended(*this, outcome);
  }
  void give_back(Settlement settlement) {
    if (!ended_.exchange(true)) worker_->settles(*this, std::move(settlement));
  }
  void begins_later() override { begins_later_ = true; }
  void could_not_begin(const CannotBegin& error) override {
    if (ended_.exchange(true)) return;
    worker_->settles(*this, worker_->could_not_begin(*job_, error, Comes::later));
  }
  bool asked_to_cancel() const override {
    std::lock_guard lock{worker_->mutex_};
    return job_->cause == StopCause::cancel;
  }
  void idle(bool waits) override { worker_->idles(*this, waits); }
  void outlast_timeout() override { worker_->outlasts_timeout(*this); }

 private:
  friend class Worker::Impl;

  std::shared_ptr<Impl> worker_;
  JobPtr job_;
  int slot_;
  std::shared_ptr<Enlistment> enlistment_;
  LiveAttempt live_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::atomic<bool> ended_ = false;
  std::atomic<bool> begins_later_ = false;
};

bool Worker::Impl::nearly_full() const {
  return static_cast<int>(free_slots_.size()) < options_.concurrency / 8;
}

void Worker::Impl::hand_out() {
  while (true) {
    std::vector<std::pair<JobPtr, int>> begun;
    std::shared_ptr<Enlistment> enlistment;
    {
      std::unique_lock lock{mutex_};
      work_ready_.wait(lock, [&] { return mode_ != Mode::working || session_.startable(); });
      hands_gather_ = true;
      work_ready_.wait_for(lock, handing_time,
                           [&] { return mode_ != Mode::working || !nearly_full(); });
      hands_gather_ = false;
      if (mode_ != Mode::working) return;
      enlistment = enlistment_;
      while (begun.size() < handed_out_at_once && session_.startable()) {
        auto jobs = session_.start(parts_.clock().steady());
        if (jobs.empty()) break;
        mind_times_of(*jobs.front());
        ++figures_.of(jobs.front()->claimed.kind).started;
        figures_.full += session_.running() == options_.concurrency;
        begun.emplace_back(jobs.front(), free_slots_.back());
        free_slots_.pop_back();
      }
      if (begun.empty() || pump_gathers_) wake_pump();
    }
    for (const auto& [job, slot] : begun) hand_out(job, slot, enlistment);
  }
}

void Worker::Impl::hand_out(const JobPtr& job, int slot,
                            const std::shared_ptr<Enlistment>& enlistment) {
  enlistment->started(slot, job->claimed.lease);
  auto open = std::make_shared<Open>(shared_from_this(), job, slot, enlistment);
  kill_point(KillPoint::handler_before_start);
  try {
    async_handlers_.at(job->claimed.kind)(open);
    if (!open->begins_later_) has_begun(job->claimed.kind);
  } catch (const CannotBegin& error) {
    open->give_back(could_not_begin(*job, error));
  } catch (...) {
    open->end(outcome_of_thrown());
  }
}

void Worker::Impl::idles(Open& open, bool idle) {
  if (idle)
    open.enlistment_->finished(open.slot_);
  else
    open.enlistment_->started(open.slot_, open.job_->claimed.lease);
  std::lock_guard lock{mutex_};
  session_.idles(open.job_, idle);
  if (idle && session_.startable()) work_ready_.notify_one();
}

void Worker::Impl::outlasts_timeout(Open& open) {
  std::lock_guard lock{mutex_};
  open.job_->times_out = Millis::max();
}

void Worker::Impl::ended(Open& open, const Outcome& outcome) {
  settles(open, settlement_of(*open.job_, outcome, open.live_));
}

void Worker::Impl::settles(Open& open, Settlement settlement) {
  kill_point(KillPoint::handler_after_return);
  open.enlistment_->finished(open.slot_);
  // What was claimed together goes together: a slow one must not keep what the others carried.
  open.job_->claimed.payload = {};
  auto took_time = std::chrono::steady_clock::now() - open.began_;
  std::lock_guard lock{mutex_};
  session_.finished(open.job_, std::move(settlement), took_time);
  figures_.run.add(std::chrono::duration_cast<TimeHistogram::Micros>(took_time));
  session_.handler_free();
  free_slots_.push_back(open.slot_);
  if (open.enlistment_ != enlistment_ && --strays_ == 0) enlistment_->not_alone(false);
  if (session_.startable() && !(hands_gather_ && nearly_full())) work_ready_.notify_one();
  wake_pump();
}

}  // namespace holdfast
