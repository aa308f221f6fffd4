#include <holdfast/worker.hpp>

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "tasks/names.hpp"
#include "tasks/policy.hpp"
#include "tasks/upkeep.hpp"
#include "tasks/worker_impl.hpp"

namespace holdfast {

namespace {

constexpr int open_attempts = 256;
constexpr int most_open_attempts = 16'384;  // as many as a board has room for

int handler_count(const Tasks& tasks, const WorkerOptions& options, const Settings& settings) {
  if (!tasks.async_handlers().empty())
    return options.concurrency > 0 ? options.concurrency : open_attempts;
  int count = options.concurrency > 0 ? options.concurrency : settings.worker.concurrency;
  return count > 0 ? count : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

std::vector<std::string> kinds_of(const Tasks& tasks) {
  std::vector<std::string> kinds;
  for (const auto& [kind, handler] : tasks.handlers()) kinds.push_back(kind);
  for (const auto& [kind, handler] : tasks.async_handlers()) kinds.push_back(kind);
  return kinds;
}

}  // namespace

Worker::Impl::Impl(const Tasks& tasks, WorkerOptions options)
    : parts_{tasks.engine().parts()},
      engine_{tasks.engine()},
      handlers_{tasks.handlers()},
      async_handlers_{tasks.async_handlers()},
      kinds_{kinds_of(tasks)},
      options_{std::move(options)},
      settings_{parts_.settings()},
      watch_{parts_},
      scheduler_{parts_},
      session_{Session::Limits{.concurrency = handler_count(tasks, options_, settings_),
                               .prefetch = settings_.worker.prefetch,
                               .lease = settings_.heartbeat.lease(),
                               .stop_grace = settings_.worker.stop_grace,
                               .handful = async_handlers_.empty() ? 64u : 1u}} {
  for (const auto& queue : options_.queues) check_name("queue", queue, longest_name);
  if (asynchronous() && !handlers_.empty())
    throw InvalidRequest{
        "a worker has either plain or asynchronous handlers; run two workers for both"};
  options_.concurrency = handler_count(tasks, options_, settings_);
  if (asynchronous() && options_.concurrency > most_open_attempts)
    throw InvalidRequest{fmt::format("{} open attempts at once; at most {} are allowed",
                                     options_.concurrency, most_open_attempts)};
  if (asynchronous())
    for (int slot = options_.concurrency; slot-- > 0;) free_slots_.push_back(slot);
}

WorkerSummary Worker::Impl::run() {
  if (ran_.exchange(true)) throw Error{"a worker runs once; make another one"};
  begin();
  start_threads();
  work();
  try {
    finish();
  } catch (const StorageFailed&) {
    storage_failed();
  }
  if (settling_.valid()) settling_.wait();
  {
    std::lock_guard lock{mutex_};
    mode_ = Mode::ended;
  }
  stop_watch_.request_stop();
  work_ready_.notify_all();
  timer_due_.notify_all();
  ended_.notify_all();
  for (auto& thread : threads_) thread.join();
  for (auto& [thread, returned] : handler_threads_) {
    bool join = false;
    {
      std::lock_guard lock{mutex_};
      join = returned || session_.running() == 0;
    }
    join ? thread.join() : thread.detach();
    summary_.left_behind += !join;
  }
  if (fatal_) std::rethrow_exception(fatal_);
  say_goodbye();
  if (was_moved_) require_not_moved(parts_);
  return summary_;
}

void Worker::Impl::say_goodbye() {
  try {
    parts_.workers().retire(enlistment_->id(), take_figures());
  } catch (const StorageFailed&) {
    throw;
  } catch (const StoreError& error) {
    // Everything is done. Others will see by our lock that we are gone.
    trouble("saying goodbye", error);
  }
}

void Worker::Impl::begin() {
  require_writable(parts_);
  while (true) {
    try {
      require_not_moved(parts_);
      watch_.start_up();
      // A worker that only works until nothing is left should find what was missed.
      fire_schedules();
      enlist();
      return;
    } catch (const StorageFailed&) {
      throw;
    } catch (const StoreUnusable&) {
      throw;
    } catch (const StoreMoved&) {
      throw;
    } catch (const StoreError& error) {
      trouble("starting", error);
      parts_.tasks().wait_for_work(retry_beat);
      std::lock_guard lock{mutex_};
      if (ends()) throw;
    }
  }
}

void Worker::Impl::enlist() {
  WorkerProfile profile{.queues = options_.queues,
                        .kinds = kinds_,
                        .concurrency = options_.concurrency,
                        .lease = settings_.heartbeat.lease(),
                        .heartbeat = settings_.heartbeat.interval};
  std::shared_ptr<Enlistment> enlisted = parts_.workers().enlist(profile);
  parts_.events().emit(WorkerEnlisted{enlisted->id()});
  std::lock_guard lock{mutex_};
  enlistment_ = std::move(enlisted);
  figures_ = figures_.since(told_);
  told_ = {};
  strays_ = session_.running();
  if (strays_ > 0) enlistment_->not_alone(true);
  look_again_ = true;
}

void Worker::Impl::start_threads() {
  auto self = shared_from_this();
  int handlers = asynchronous() ? 0 : options_.concurrency;
  if (asynchronous()) threads_.emplace_back([this] { hand_out(); });
  handler_threads_.resize(static_cast<std::size_t>(handlers));
  for (int slot = 0; slot < handlers; ++slot) {
    handler_threads_[static_cast<std::size_t>(slot)].thread =
        std::thread{[self, slot] { self->handle(slot); }};
  }
  threads_.emplace_back([this] { beat(); });
  threads_.emplace_back([this] { watch_time(); });
  threads_.emplace_back([this] { watch(); });
  if (parts_.schedule_store()) threads_.emplace_back([this] { keep_schedules(); });
}

void Worker::Impl::watch_time() {
  std::unique_lock lock{mutex_};
  while (mode_ != Mode::ended) {
    auto now = parts_.clock().steady();
    auto due = session_.due(now);
    if (session_.anything_to_settle()) wake_pump();
    if (session_.startable()) work_ready_.notify_one();
    for (const auto& job : due.give_up) {
      AttemptEnd end{.cancel_requested = job->cause == StopCause::cancel,
                     .timed_out = job->cause == StopCause::timeout,
                     .random = 0.5};
      session_.settle_on_behalf(job, settle_for(job->claimed, retry("did not stop"), end));
      wake_pump();
    }
    if (due.leases_lost > 0 || !due.stop.empty() || !due.give_up.empty()) {
      lock.unlock();
      stop(due.stop);
      if (due.leases_lost > 0) {
        parts_.events().emit(LeasesAbandoned{enlistment()->id(), due.leases_lost});
      }
      for (const auto& job : due.give_up) {
        parts_.events().emit(
            HandlerIgnoresStop{job->claimed.lease.id, job->claimed.kind, job->claimed.name});
      }
      lock.lock();
      continue;
    }
    timer_wakes_ = due.next;
    if (due.next == Millis::max()) {
      timer_due_.wait(lock);
    } else {
      timer_due_.wait_for(lock, due.next - now);
    }
    timer_wakes_ = Millis{0};
  }
}

void Worker::Impl::mind_times_of(const Job& job) {
  // Most often others are over sooner, and looking at all of them takes time.
  if (std::min(job.deadline, job.times_out) < timer_wakes_ || session_.suspect_in_the_way())
    timer_due_.notify_one();
}

void Worker::Impl::stop(const std::vector<JobPtr>& jobs) {
  for (const auto& job : jobs) job->stop.request_stop();
}

void Worker::Impl::watch() {
  auto stop = stop_watch_.get_token();
  Upkeep upkeep{parts_};
  while (!stop.stop_requested()) {
    try {
      watch_.run_once(stop, upkeep.next());
      if (stop.stop_requested()) return;
      upkeep.run_once();
    } catch (const StorageFailed&) {
      storage_failed();
      return;
    } catch (const StoreError& error) {
      trouble("watching for dead workers", error);
      pause(retry_beat);
    }
  }
}

Millis Worker::Impl::fire_schedules() {
  try {
    return scheduler_.run_once().wait;
  } catch (const StorageFailed&) {
    throw;
  } catch (const StoreError& error) {
    // On a full disk there is no room for new work, but what is there can still be done.
    trouble("firing schedules", error);
    return retry_beat;
  }
}

void Worker::Impl::keep_schedules() {
  auto wait = Millis{0};
  while (pause(wait)) {
    try {
      wait = fire_schedules();
    } catch (const StorageFailed&) {
      storage_failed();
      return;
    }
  }
}

void Worker::Impl::trouble(const char* what, const std::exception& error) {
  parts_.events().emit(StoreTrouble{what, error.what()});
}

void Worker::Impl::storage_failed() {
  {
    std::lock_guard lock{mutex_};
    if (!fatal_) fatal_ = std::current_exception();
    mode_ = Mode::hurrying;
  }
  work_ready_.notify_all();
  parts_.tasks().interrupt();
}

void Worker::Impl::wake_pump() {
  if (pump_gathers_ && may_gather()) return;
  pump_gathers_ = false;
  if (std::exchange(pump_waits_, false)) parts_.tasks().interrupt();
}

std::shared_ptr<Enlistment> Worker::Impl::enlistment() {
  std::lock_guard lock{mutex_};
  return enlistment_;
}

bool Worker::Impl::pause(Millis time) {
  std::unique_lock lock{mutex_};
  return !ended_.wait_for(lock, time, [&] { return mode_ == Mode::ended; });
}

void Worker::Impl::go_on_to(Mode mode) {
  {
    std::lock_guard lock{mutex_};
    mode_ = std::max(mode_, mode);
  }
  work_ready_.notify_all();
  parts_.tasks().interrupt();
}

void Worker::Impl::rest() { go_on_to(Mode::resting); }
void Worker::Impl::drain() { go_on_to(Mode::draining); }
void Worker::Impl::hurry() { go_on_to(Mode::hurrying); }

Worker::Worker(const Tasks& tasks, WorkerOptions options)
    : impl_{std::make_shared<Impl>(tasks, std::move(options))} {}
Worker::~Worker() = default;
WorkerSummary Worker::run() { return impl_->run(); }
void Worker::rest() { impl_->rest(); }
void Worker::drain() { impl_->drain(); }
void Worker::hurry() { impl_->hurry(); }

}  // namespace holdfast
