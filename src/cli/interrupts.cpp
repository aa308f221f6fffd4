#include "cli/interrupts.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace holdfast::cli {

namespace {

sigset_t watched(Interrupts::Of of) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  if (of == Interrupts::Of::ends_and_rest) sigaddset(&set, SIGTSTP);
  return set;
}

}  // namespace

Interrupts::Interrupts(Of of) : of_{of} {
  const sigset_t set = watched(of_);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC);
  if (signals_ < 0)
    throw std::system_error{errno, std::generic_category(), "cannot watch for signals"};
}

Interrupts::~Interrupts() {
  ::close(signals_);
  const sigset_t set = watched(of_);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

InterruptWatch::InterruptWatch(Interrupts& interrupts, std::function<void(int count)> on_signal,
                               std::function<void()> on_rest)
    : interrupts_{interrupts},
      on_signal_{std::move(on_signal)},
      on_rest_{std::move(on_rest)},
      end_{::eventfd(0, EFD_CLOEXEC)} {
  if (end_ < 0) throw std::system_error{errno, std::generic_category(), "cannot watch for signals"};
  thread_ = std::thread{[this] { listen(); }};
}

InterruptWatch::~InterruptWatch() {
  ::eventfd_write(end_, 1);
  thread_.join();
  ::close(end_);
}

void InterruptWatch::listen() {
  for (int count = 0;;) {
    pollfd ready[] = {{interrupts_.signals_, POLLIN, 0}, {end_, POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0) continue;
    if (ready[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(interrupts_.signals_, &info, sizeof info) != sizeof info) continue;
    if (info.ssi_signo == SIGTSTP) {
      if (on_rest_) on_rest_();
      continue;
    }
    if (count++ == 0) interrupts_.first_ = static_cast<int>(info.ssi_signo);
    on_signal_(count);
  }
}

}  // namespace holdfast::cli
