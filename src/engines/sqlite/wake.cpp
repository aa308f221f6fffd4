#include "engines/sqlite/wake.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>

namespace holdfast::sqlite {

namespace {

constexpr Millis poll_pause{100};

FileDescriptor open_bell(const std::string& path) { return open_private(path, O_WRONLY | O_CREAT); }

void ring(const FileDescriptor& bell) {
  [[maybe_unused]] auto written = ::pwrite(bell.get(), "!", 1, 0);
}

}  // namespace

WorkWatch::WorkWatch(const std::string& work, const std::string& control, const Events& events,
                     bool may_write, Inotify inotify)
    : events_{events}, inotify_{std::move(inotify)} {
  if (!may_write) return;
  work_file_ = open_bell(work);
  control_file_ = open_bell(control);
  inotify_.watch(work, IN_MODIFY);
  control_watch_ = inotify_.watch(control, IN_MODIFY);
}

void WorkWatch::announce_work() const { ring(work_file_); }
void WorkWatch::announce_control() const { ring(control_file_); }

Wake WorkWatch::wait(Millis timeout) {
  auto deadline = std::chrono::steady_clock::now() + timeout;
  std::unique_lock lock{mutex_};
  auto& seen = seen_[std::this_thread::get_id()];
  for (bool looked = false;; looked = true) {
    if (seen.interrupts != news_.interrupts) {
      seen.interrupts = news_.interrupts;
      return Wake::nothing;
    }
    if (seen.control != news_.control) {
      seen.control = news_.control;
      return Wake::control;
    }
    if (seen.work != news_.work) {
      seen.work = news_.work;
      return Wake::work;
    }
    // Even with no time to wait, what has happened already is worth a look.
    if (looked && std::chrono::steady_clock::now() >= deadline) return Wake::nothing;
    if (listening_) {
      heard_.wait_until(lock, deadline);
    } else {
      listen(deadline, lock);
    }
  }
}

void WorkWatch::listen(Deadline deadline, std::unique_lock<std::mutex>& lock) {
  listening_ = true;
  if (!inotify_.usable()) say_that_we_poll();
  lock.unlock();

  auto left = std::chrono::ceil<Millis>(deadline - std::chrono::steady_clock::now());
  left = std::clamp(left, Millis{0}, inotify_.usable() ? Millis{3'600'000} : poll_pause);
  pollfd sources[] = {{interrupt_.fd(), POLLIN, 0}, {inotify_.fd(), POLLIN, 0}};
  ::poll(sources, 2, static_cast<int>(left.count()));
  auto changes = inotify_.drain();

  lock.lock();
  // Lowered under the lock, in which `interrupt` counts: none is lowered without being counted.
  interrupt_.lower();
  listening_ = false;
  for (const auto& change : changes) {
    bool lost_some = (change.mask & IN_Q_OVERFLOW) != 0;
    if (change.watch == control_watch_ || lost_some) ++news_.control;
    if (change.watch != control_watch_ || lost_some) ++news_.work;
  }
  if (!inotify_.usable()) ++news_.control, ++news_.work;
  heard_.notify_all();
}

void WorkWatch::say_that_we_poll() {
  if (said_that_we_poll_) return;
  said_that_we_poll_ = true;
  events_.emit(StoreTrouble{"waiting for work",
                            inotify_.why_not() + "; looking every 100 ms instead of being woken"});
}

void WorkWatch::interrupt() {
  std::lock_guard lock{mutex_};
  ++news_.interrupts;
  interrupt_.raise();
  heard_.notify_all();
}

}  // namespace holdfast::sqlite
