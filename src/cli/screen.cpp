#include "cli/screen.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace holdfast::cli {

namespace {

// The other screen, which keeps what was typed before out of it; no cursor; no wrapping of lines.
constexpr std::string_view enter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view leave = "\x1b[?7h\x1b[?25h\x1b[?1049l";

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH}) sigaddset(&set, number);
  return set;
}

void send(std::string_view text) {
  while (!text.empty()) {
    const auto sent = ::write(STDOUT_FILENO, text.data(), text.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace

Nudges::Nudges() : keys_{::isatty(STDIN_FILENO) == 1} {
  const auto set = watched();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC);
  if (signals_ < 0)
    throw std::system_error{errno, std::generic_category(), "cannot watch for signals"};
}

Nudges::~Nudges() {
  ::close(signals_);
  const auto set = watched();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

Nudge Nudges::wait(std::chrono::milliseconds limit) {
  pollfd ready[] = {{signals_, POLLIN, 0}, {keys_ ? STDIN_FILENO : -1, POLLIN, 0}};
  if (::poll(ready, 2, static_cast<int>(limit.count())) <= 0) return Nudge::none;
  return ready[0].revents != 0 ? of_signal() : of_key();
}

Nudge Nudges::of_signal() {
  signalfd_siginfo info{};
  if (::read(signals_, &info, sizeof info) != sizeof info) return Nudge::none;
  if (info.ssi_signo == SIGWINCH) return Nudge::resize;
  if (info.ssi_signo == SIGTSTP) return Nudge::pause;
  interrupted_ = info.ssi_signo == SIGINT;
  return Nudge::end;
}

Nudge Nudges::of_key() {
  char key = 0;
  if (::read(STDIN_FILENO, &key, 1) != 1) return Nudge::end;  // the terminal is gone
  return key == 'q' || key == 'Q' ? Nudge::end : Nudge::none;
}

Screen::Screen() {
  termios now{};
  if (::tcgetattr(STDIN_FILENO, &now) == 0) {
    before_ = now;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
  }
  send(enter);
}

Screen::~Screen() {
  send(leave);
  if (before_) ::tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
}

void Screen::draw(std::string_view lines) const {
  // In one piece, from the top, each line over what it replaces: nothing flickers.
  std::string text = "\x1b[H";
  while (!lines.empty()) {
    const auto line = lines.substr(0, lines.find('\n'));
    text.append(line).append("\x1b[K");
    lines.remove_prefix(line.size());
    if (lines.size() > 1) text += '\n';  // the last one must not make the screen scroll
    if (!lines.empty()) lines.remove_prefix(1);
  }
  send(text + "\x1b[J");
}

int Screen::height() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

}  // namespace holdfast::cli
