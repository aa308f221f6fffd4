#include "cli/demo_fleet.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

extern char** environ;

namespace holdfast::cli {

namespace {

pid_t spawn_worker(const std::string& folder, int interval_ms) {
  std::vector<std::string> words{"holdfast",
                                 "--store",
                                 "sqlite:" + folder + "/demo.db",
                                 "demo-worker",
                                 "--ledgers",
                                 folder + "/ledgers",
                                 "--interval",
                                 std::to_string(interval_ms)};
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  const std::string log = folder + "/workers.log";
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  // A group of its own: Ctrl-C on the terminal is for the demo, which then tidies up.
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int code =
      ::posix_spawn(&pid, "/proc/self/exe", &files, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (code != 0) throw std::system_error{code, std::generic_category(), "cannot start a worker"};
  return pid;
}

void end(pid_t pid) {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

}  // namespace

DemoFleet::~DemoFleet() {
  for (const pid_t pid : workers_) end(pid);
}

void DemoFleet::fill(std::size_t count, int interval_ms) {
  while (workers_.size() < count) workers_.push_back(spawn_worker(folder_, interval_ms));
}

void DemoFleet::kill(std::size_t n) {
  const pid_t victim = workers_.at(n);
  workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(n));
  kills_.push_back({victim, demo_now()});
  end(victim);
}

void DemoFleet::stop(std::size_t n) const {
  ::kill(workers_.at(n), SIGSTOP);
  siginfo_t stopped{};
  ::waitid(P_PID, static_cast<id_t>(workers_.at(n)), &stopped, WSTOPPED);
}

void DemoFleet::carry_on(std::size_t n) const { ::kill(workers_.at(n), SIGCONT); }

void DemoFleet::dismiss() {
  for (const pid_t pid : workers_) ::kill(pid, SIGTERM);
  for (const pid_t pid : workers_) ::waitpid(pid, nullptr, 0);
  workers_.clear();
}

std::size_t DemoFleet::take_lost() {
  return std::erase_if(workers_, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) == pid; });
}

}  // namespace holdfast::cli
