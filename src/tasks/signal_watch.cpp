#include "tasks/signal_watch.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include <holdfast/error.hpp>

namespace holdfast {

namespace {

/// In the counter of the eventfd, signals are counted below this and the end is this.
constexpr std::uint64_t no_more = std::uint64_t{1} << 32;

/// Where the handler writes to. Made once and never closed: a handler may still be at it when its
/// watch has ended.
std::atomic<int> noted{-1};
static_assert(std::atomic<int>::is_always_lock_free);
std::atomic<bool> watched{false};

void note(int) {
  const int before = errno;
  ::eventfd_write(noted.load(), 1);
  errno = before;
}

int open_note() {
  if (noted < 0) noted = ::eventfd(0, EFD_CLOEXEC);
  if (noted < 0)
    throw std::system_error{errno, std::generic_category(), "cannot watch for signals"};
  return noted;
}

}  // namespace

SignalWatch::SignalWatch(std::function<void()> drain, std::function<void()> hurry)
    : drain_{std::move(drain)}, hurry_{std::move(hurry)} {
  if (watched.exchange(true))
    throw Error{
        "this process runs something until SIGTERM already; use run(..., std::stop_token) for "
        "the second"};
  signals_ = open_note();
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &action, &term_before_);
  ::sigaction(SIGINT, &action, &int_before_);
  thread_ = std::thread{[this] { watch(); }};
}

SignalWatch::~SignalWatch() {
  ::sigaction(SIGTERM, &term_before_, nullptr);
  ::sigaction(SIGINT, &int_before_, nullptr);
  ::eventfd_write(signals_, no_more);
  thread_.join();
  watched = false;
}

void SignalWatch::watch() {
  // Every other thread may have blocked them; then they are delivered to this one.
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, SIGTERM);
  sigaddset(&ours, SIGINT);
  pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
  bool asked_before = false;
  while (true) {
    std::uint64_t news = 0;
    if (::eventfd_read(signals_, &news) != 0) continue;
    for (auto signals = news % no_more; signals > 0; --signals) {
      asked_before ? hurry_() : drain_();
      asked_before = true;
    }
    if (news >= no_more) return;
  }
}

}  // namespace holdfast
