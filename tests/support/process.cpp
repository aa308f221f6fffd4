#include "support/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

extern char** environ;

namespace holdfast::test {

namespace {

/// A file in memory: unlike a pipe it never fills up, so nobody has to read while the child runs.
int memory_file(const char* name) {
  int fd = ::memfd_create(name, MFD_CLOEXEC);
  if (fd < 0) throw std::system_error{errno, std::generic_category(), "memfd_create"};
  return fd;
}

std::string contents(int fd) {
  std::string text;
  char buffer[4096];
  ssize_t got = 0;
  while ((got = ::pread(fd, buffer, sizeof buffer, static_cast<off_t>(text.size()))) > 0)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

pid_t spawn(std::vector<std::string> command, const Environment& extra, int in, int out, int err) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : extra) variables.push_back(name + "=" + value);
  for (char** each = environ; *each; ++each) variables.emplace_back(*each);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  pid_t pid = -1;
  auto arguments = pointers(command), environment = pointers(variables);
  int code =
      ::posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) throw std::system_error{code, std::generic_category(), "start " + command[0]};
  return pid;
}

Ending decode(int status) {
  if (WIFSIGNALED(status)) return {-1, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace

Process::Process(const std::vector<std::string>& command, const Environment& extra,
                 const std::string& input)
    : out_{memory_file("out")}, err_{memory_file("err")} {
  int in = memory_file("in");
  if (::pwrite(in, input.data(), input.size(), 0) != static_cast<ssize_t>(input.size()))
    throw std::runtime_error{"cannot prepare the input"};
  pid_ = spawn(command, extra, in, out_, err_);
  ::close(in);
}

Process::Process(Process&& other) noexcept
    : pid_{std::exchange(other.pid_, -1)},
      out_{std::exchange(other.out_, -1)},
      err_{std::exchange(other.err_, -1)},
      ending_{other.ending_} {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(out_, other.out_);
  std::swap(err_, other.err_);
  std::swap(ending_, other.ending_);
  return *this;
}

Process::~Process() {
  if (pid_ < 0) return;
  kill();
  ::close(out_);
  ::close(err_);
}

bool Process::running() { return !wait(std::chrono::milliseconds{0}); }

void Process::signal(int number) const {
  if (!ending_) ::kill(pid_, number);
}

void Process::stop() const {
  signal(SIGSTOP);
  siginfo_t stopped{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &stopped, WSTOPPED);
}

std::optional<Ending> Process::wait(std::chrono::milliseconds limit) {
  if (ending_) return ending_;
  int handle = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (handle < 0) throw std::system_error{errno, std::generic_category(), "pidfd_open"};
  pollfd ended{handle, POLLIN, 0};
  int ready = ::poll(&ended, 1, static_cast<int>(limit.count()));
  ::close(handle);
  if (ready != 1) return {};
  int status = 0;
  ::waitpid(pid_, &status, 0);
  ending_ = decode(status);
  return ending_;
}

void Process::kill() {
  signal(SIGKILL);
  wait();
}

std::string Process::out() const { return contents(out_); }
std::string Process::err() const { return contents(err_); }

Finished run(const std::vector<std::string>& command, const Environment& extra,
             const std::string& input) {
  Process process{command, extra, input};
  if (!process.wait()) process.kill();
  return {*process.wait(), process.out(), process.err()};
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

}  // namespace holdfast::test
