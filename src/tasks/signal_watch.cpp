#include "tasks/signal_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace holdfast {

SignalWatch::SignalWatch(std::function<void()> drain, std::function<void()> hurry)
    : drain_{std::move(drain)}, hurry_{std::move(hurry)} {
  sigemptyset(&watched_);
  sigaddset(&watched_, SIGTERM);
  sigaddset(&watched_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &watched_, &before_);
  signals_ = ::signalfd(-1, &watched_, SFD_CLOEXEC);
  end_ = ::eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread{[this] { watch(); }};
}

SignalWatch::~SignalWatch() {
  std::uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(end_, &one, sizeof one);
  thread_.join();
  ::close(signals_);
  ::close(end_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void SignalWatch::watch() {
  bool asked_before = false;
  while (true) {
    pollfd events[] = {{signals_, POLLIN, 0}, {end_, POLLIN, 0}};
    if (::poll(events, 2, -1) < 0) continue;
    if (events[1].revents) return;
    signalfd_siginfo info{};
    if (::read(signals_, &info, sizeof info) != sizeof info) continue;
    asked_before ? hurry_() : drain_();
    asked_before = true;
  }
}

}  // namespace holdfast
