#include "recovery/fatal_signals.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <memory>

namespace holdfast {

namespace {

constexpr std::array fatal_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr std::size_t stack_bytes = 32 * 1024;

std::array<std::atomic<LastMoment*>, 64> kept{};
std::atomic<bool> recording = false;

struct Door {
  LastMoment* moment = nullptr;
  int slot = -1;
};
// The model that needs no allocation on first use, because a signal handler reads it.
[[gnu::tls_model("initial-exec")]] thread_local constinit Door here{};

void note(int signal) {
  for (auto& entry : kept) {
    LastMoment* moment = entry.load(std::memory_order_acquire);
    if (!moment) continue;
    moment->slot.store(moment == here.moment ? here.slot : -1, std::memory_order_relaxed);
    moment->signal.store(signal, std::memory_order_release);
  }
  // The handler was reset on entry and the signal is blocked until we return: then it strikes
  // again, with its default action, at the instruction that caused it.
  std::raise(signal);
}

/// A stack of its own for the signal handler: the usual one is what a runaway recursion used up.
class SignalStack {
 public:
  SignalStack() {
    stack_t stack{};
    stack.ss_sp = memory_.get();
    stack.ss_size = stack_bytes;
    installed_ = ::sigaltstack(nullptr, &before_) == 0 && (before_.ss_flags & SS_DISABLE) != 0 &&
                 ::sigaltstack(&stack, nullptr) == 0;
  }
  ~SignalStack() {
    if (installed_) ::sigaltstack(&before_, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  std::unique_ptr<std::byte[]> memory_ = std::make_unique<std::byte[]>(stack_bytes);
  stack_t before_{};
  bool installed_ = false;
};

}  // namespace

void record_fatal_signals() {
  recording = true;
  for (int signal : fatal_signals) {
    struct sigaction current {};
    ::sigaction(signal, nullptr, &current);
    if ((current.sa_flags & SA_SIGINFO) != 0 || current.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK);
    ::sigaction(signal, &action, nullptr);
  }
}

void keep_last_moment(LastMoment* moment) {
  for (auto& entry : kept) {
    LastMoment* empty = nullptr;
    if (entry.compare_exchange_strong(empty, moment)) return;
  }
}

void forget_last_moment(LastMoment* moment) {
  for (auto& entry : kept) {
    LastMoment* held = moment;
    if (entry.compare_exchange_strong(held, nullptr)) return;
  }
}

void enter_handler(LastMoment* moment, int slot) {
  if (recording.load(std::memory_order_relaxed) && moment) {
    thread_local const SignalStack stack;
  }
  here = {moment, slot};
}

}  // namespace holdfast
