#include "exec/child_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include <fmt/format.h>

#include "exec/memory_guard.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast {

namespace {

struct Pipe {
  Descriptor reader;
  Descriptor writer;
};

[[noreturn]] void throw_errno(const char* doing) {
  throw std::system_error{errno, std::system_category(), doing};
}

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("cannot make a pipe for a program");
  return {Descriptor{ends[0]}, Descriptor{ends[1]}};
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const auto& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// What the child finds when it starts.
struct Inheritance {
  const char* path;
  char* const* arguments;
  char* const* environment;
  pid_t parent;
  int input;
  int output;
  int errors;
  int lock;
  int failure;  ///< where to say why the program could not be started
  int guard;
  rlimit core;
};

constexpr int lock_number = 3;
constexpr int failure_number = 4;
/// Descriptors move up here before they move down, so that none is overwritten before its turn.
constexpr int out_of_the_way = 10;

/// At the beginning of the file and no more: what its owner wrote further on stays.
bool write_decimal(int file, pid_t number) {
  char digits[16];
  char* first = digits + sizeof digits;
  *--first = '\n';
  for (; number > 0; number /= 10) *--first = static_cast<char>('0' + number % 10);
  auto length = static_cast<std::size_t>(digits + sizeof digits - first);
  return ::lseek(file, 0, SEEK_SET) == 0 && ::write(file, first, length) >= 0;
}

/// No handler of the parent may run in the child, which shares its memory, and what the parent
/// ignores the program must not find ignored.
void reset_signals() {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &by_default, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void give_up(int failure, int error) {
  [[maybe_unused]] auto said = ::write(failure, &error, sizeof error);
  ::_exit(127);
}

/// Runs between fork and exec, on the memory of a process with other threads: nothing here may
/// allocate, lock or throw.
[[noreturn, gnu::noinline]] void become(const Inheritance& given) {
  // The death signal is not sent for a parent that was dead before it was asked for.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != given.parent) ::_exit(127);
  ::setpgid(0, 0);
  // Here and not in the parent, which may be killed before it could say so.
  if (given.guard >= 0) GroupGuard::begins(given.guard, ::getpid());

  // First of all where to say what fails. Until then the number that it will have is that of any
  // file of ours.
  const int failure = ::fcntl(given.failure, F_DUPFD_CLOEXEC, out_of_the_way);
  if (failure < 0) give_up(given.failure, errno);
  const int input = ::fcntl(given.input, F_DUPFD_CLOEXEC, out_of_the_way);
  const int output = ::fcntl(given.output, F_DUPFD_CLOEXEC, out_of_the_way);
  const int errors = ::fcntl(given.errors, F_DUPFD_CLOEXEC, out_of_the_way);
  const int lock = given.lock < 0 ? -1 : ::fcntl(given.lock, F_DUPFD_CLOEXEC, out_of_the_way);
  if (input < 0 || output < 0 || errors < 0 || (given.lock >= 0 && lock < 0))
    give_up(failure, errno);
  bool ready = ::dup2(input, STDIN_FILENO) >= 0 && ::dup2(output, STDOUT_FILENO) >= 0 &&
               ::dup2(errors, STDERR_FILENO) >= 0;
  if (given.lock < 0) {
    ::close(lock_number);
  } else {
    ready = ready && ::dup2(lock, lock_number) >= 0 && write_decimal(lock_number, ::getpid());
  }
  if (!ready || ::dup3(failure, failure_number, O_CLOEXEC) < 0) give_up(failure, errno);
  // Everything of ours is closed by exec as well; this is for what others forgot to mark.
  ::close_range(failure_number + 1, ~0U, 0);
  reset_signals();
  ::setrlimit(RLIMIT_CORE, &given.core);
  ::execve(given.path, given.arguments, given.environment);
  give_up(failure_number, errno);
}

/// Blocks every signal of this thread while it lives.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// vfork instead of fork: a worker with much memory would otherwise copy its page tables for every
/// task. This thread waits until the child has become the program.
pid_t fork_into(const Inheritance& given) {
  SignalsBlocked blocked;
  pid_t pid = ::vfork();
  if (pid == 0) become(given);
  return pid;
}

/// Zero if the child has become the program, else why not.
int failure_of(Pipe& failure) {
  failure.writer.close();
  int error = 0;
  while (::read(failure.reader.get(), &error, sizeof error) < 0)
    if (errno != EINTR) throw_errno("cannot learn whether a program was started");
  return error;
}

/// By its number, because the header of Debian's glibc does not declare it for C++.
Descriptor open_pidfd(pid_t pid) {
  return Descriptor{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
}

}  // namespace

ChildProcess ChildProcess::start(const Program& program, int input, int lock,
                                 const GroupGuard* guard) {
  auto arguments = pointers_to(program.arguments);
  auto environment = pointers_to(program.environment);
  auto output = make_pipe();
  auto errors = make_pipe();
  auto failure = make_pipe();
  ::fcntl(output.reader.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(errors.reader.get(), F_SETFL, O_NONBLOCK);

  kill_point(KillPoint::child_before_start);
  ChildProcess child{fork_into({.path = program.path.c_str(),
                                .arguments = arguments.data(),
                                .environment = environment.data(),
                                .parent = ::getpid(),
                                .input = input,
                                .output = output.writer.get(),
                                .errors = errors.writer.get(),
                                .lock = lock,
                                .failure = failure.writer.get(),
                                .guard = guard ? guard->get() : -1,
                                .core = core_limit_of_programs()}),
                     guard};
  if (child.pid_ < 0) throw_errno("cannot fork for a program");
  kill_point(KillPoint::child_after_start);

  if (int error = failure_of(failure))
    throw std::system_error{error, std::system_category(), "cannot run " + program.path};
  child.ended_ = open_pidfd(child.pid_);
  if (!child.ended_) throw_errno("cannot watch a program");
  child.output_ = std::move(output.reader);
  child.errors_ = std::move(errors.reader);
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_{std::exchange(other.pid_, -1)},
      guard_{other.guard_},
      ended_{std::move(other.ended_)},
      output_{std::move(other.output_)},
      errors_{std::move(other.errors_)} {}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0) return;
  signal_group(SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  if (guard_) guard_->ended(pid_);
}

void ChildProcess::signal_group(int signal) const { ::kill(-pid_, signal); }

Ending ChildProcess::reap() {
  // The unreaped program keeps its number from being given to others, so the group is still ours.
  signal_group(SIGKILL);
  if (guard_) guard_->ended(pid_);
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0) {
    if (errno == EINTR) continue;
    pid_ = -1;
    throw_errno("cannot learn how the program ended (does this process ignore SIGCHLD?)");
  }
  pid_ = -1;
  return {info.si_code != CLD_EXITED, info.si_status};
}

}  // namespace holdfast
