#include "exec/group_guard.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace holdfast {

namespace {

struct News {
  pid_t group = 0;
  int running = 0;
};

/// As many programs as a worker can run at once.
constexpr int most_groups = 4'096;

void write_news(int guard, News news) {
  // A guard that is gone or stopped can help nobody, and must not harm anybody either.
  ::send(guard, &news, sizeof news, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Runs on a copy of a process that may have had other threads: nothing here may allocate or lock.
[[noreturn]] void stand_by(int line) {
  ::setsid();  // what is sent to the worker's group or terminal is not for the guard
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(signal, SIG_IGN);
  constexpr int kept = 3;
  if (line != kept && ::dup2(line, kept) < 0) ::_exit(1);
  // Above all the locks, which are to be free when the worker is gone.
  ::close_range(kept + 1, ~0U, 0);
  int nowhere = ::open("/dev/null", O_RDWR);
  for (int stream = 0; stream < kept; ++stream) ::dup2(nowhere, stream);
  static pid_t groups[most_groups];
  int count = 0;
  News news;
  while (true) {
    auto got = ::recv(kept, &news, sizeof news, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    if (got != static_cast<ssize_t>(sizeof news)) continue;  // not from us
    if (news.running != 0 && count < most_groups) groups[count++] = news.group;
    if (news.running == 0)
      count = static_cast<int>(std::remove(groups, groups + count, news.group) - groups);
  }
  for (int i = 0; i < count; ++i) ::kill(-groups[i], SIGKILL);
  ::_exit(0);
}

}  // namespace

GroupGuard::GroupGuard() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error{errno, std::system_category(), "cannot make a socket for programs"};
  Descriptor theirs{ends[0]};
  line_ = Descriptor{ends[1]};
  pid_ = ::fork();
  if (pid_ == 0) stand_by(theirs.get());
  if (pid_ < 0) throw std::system_error{errno, std::system_category(), "cannot fork for programs"};
}

GroupGuard::~GroupGuard() {
  line_.close();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void GroupGuard::begins(int guard, pid_t group) { write_news(guard, {group, 1}); }

void GroupGuard::ended(pid_t group) const { write_news(line_.get(), {group, 0}); }

}  // namespace holdfast
