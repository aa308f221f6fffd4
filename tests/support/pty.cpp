#include "support/pty.hpp"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace holdfast::test {

namespace {

constexpr std::chrono::seconds patience{60};

winsize size_of(int rows, int columns) {
  winsize size{};
  size.ws_row = static_cast<unsigned short>(rows);
  size.ws_col = static_cast<unsigned short>(columns);
  return size;
}

}  // namespace

PtyProcess::PtyProcess(std::vector<std::string> command, int rows, int columns) {
  std::vector<char*> arguments;
  for (auto& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto size = size_of(rows, columns);
  pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
  if (pid_ < 0) throw std::system_error{errno, std::generic_category(), "forkpty"};
  if (pid_ > 0) return;
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

PtyProcess::~PtyProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(terminal_);
}

void PtyProcess::type(const std::string& keys) const {
  if (::write(terminal_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size()))
    throw std::system_error{errno, std::generic_category(), "cannot type"};
}

void PtyProcess::resize(int rows, int columns) const {
  const auto size = size_of(rows, columns);
  ::ioctl(terminal_, TIOCSWINSZ, &size);
}

bool PtyProcess::read_more(std::chrono::milliseconds limit) {
  pollfd ready{terminal_, POLLIN, 0};
  if (::poll(&ready, 1, static_cast<int>(limit.count())) != 1) return false;
  char buffer[4096];
  const auto got = ::read(terminal_, buffer, sizeof buffer);
  if (got <= 0) return false;
  printed_.append(buffer, static_cast<std::size_t>(got));
  return true;
}

std::optional<std::string> PtyProcess::read_until(const std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (const auto at = printed_.find(text); at != std::string::npos) {
      auto read = printed_.substr(0, at + text.size());
      printed_.erase(0, read.size());
      return read;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0 || !read_more(left)) return {};
  }
}

std::optional<Ending> PtyProcess::wait() {
  while (read_more(patience)) continue;
  int status = 0;
  if (::waitpid(pid_, &status, 0) != std::exchange(pid_, -1)) return {};
  if (WIFSIGNALED(status)) return Ending{-1, WTERMSIG(status)};
  return Ending{WEXITSTATUS(status), 0};
}

bool PtyProcess::stopped() const {
  siginfo_t info{};
  return eventually(
      [&] {
        return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG) == 0 &&
               info.si_pid == pid_;
      },
      patience);
}

void PtyProcess::go_on() const { ::kill(pid_, SIGCONT); }

std::string PtyProcess::rest() { return std::exchange(printed_, {}); }

termios PtyProcess::attributes() const {
  termios now{};
  ::tcgetattr(terminal_, &now);
  return now;
}

}  // namespace holdfast::test
