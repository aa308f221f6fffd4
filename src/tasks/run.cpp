#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include <holdfast/worker.hpp>

#include "recovery/fatal_signals.hpp"

namespace holdfast {

namespace {

/// Turns SIGTERM and SIGINT into drain, and into hurry the second time. Must be made before other
/// threads are, so that they inherit the blocked signals.
class SignalWatch {
 public:
  explicit SignalWatch(Worker& worker) {
    sigemptyset(&watched_);
    sigaddset(&watched_, SIGTERM);
    sigaddset(&watched_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &watched_, &before_);
    signals_ = ::signalfd(-1, &watched_, SFD_CLOEXEC);
    end_ = ::eventfd(0, EFD_CLOEXEC);
    thread_ = std::thread{[this, &worker] { watch(worker); }};
  }

  ~SignalWatch() {
    std::uint64_t one = 1;
    [[maybe_unused]] auto written = ::write(end_, &one, sizeof one);
    thread_.join();
    ::close(signals_);
    ::close(end_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  void watch(Worker& worker) {
    bool asked_before = false;
    while (true) {
      pollfd events[] = {{signals_, POLLIN, 0}, {end_, POLLIN, 0}};
      if (::poll(events, 2, -1) < 0) continue;
      if (events[1].revents) return;
      signalfd_siginfo info{};
      if (::read(signals_, &info, sizeof info) != sizeof info) continue;
      asked_before ? worker.hurry() : worker.drain();
      asked_before = true;
    }
  }

  sigset_t watched_{}, before_{};
  int signals_ = -1, end_ = -1;
  std::thread thread_;
};

}  // namespace

WorkerSummary run(const Tasks& tasks, WorkerOptions options) {
  record_fatal_signals();
  Worker worker{tasks, std::move(options)};
  SignalWatch signals{worker};
  return worker.run();
}

}  // namespace holdfast
