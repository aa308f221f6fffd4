#include "worker_process.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

#include <stdexcept>
#include <system_error>
#include <utility>

extern char** environ;

namespace holdfast::bench {

namespace {

const char* name_of(Durability durability) {
  return durability == Durability::power_safe ? "power-safe" : "crash-safe";
}

}  // namespace

WorkerProcess::WorkerProcess(const Scratch& scratch, const WorkerRole& role) {
  start({worker_argument, scratch.folder(), name_of(role.durability),
         role.until_empty ? "until-empty" : "for-ever", std::to_string(role.concurrency),
         std::to_string(role.heartbeat.count()), std::to_string(role.max_bytes)});
}

WorkerProcess WorkerProcess::hoarder(const Scratch& scratch, Durability durability, int claims) {
  WorkerProcess process;
  process.start({hoarder_argument, scratch.folder(), name_of(durability), std::to_string(claims)});
  return process;
}

void WorkerProcess::start(std::vector<std::string> words) {
  words.insert(words.begin(), "/proc/self/exe");
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int code = ::posix_spawn(&pid_, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (code != 0) throw std::system_error{code, std::generic_category(), "start a worker"};
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_{std::exchange(other.pid_, -1)} {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  return *this;
}

WorkerProcess::~WorkerProcess() { kill(); }

void WorkerProcess::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(std::exchange(pid_, -1), nullptr, 0);
}

void WorkerProcess::wait() {
  int status = 0;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error{"a worker process did not end well"};
}

void WorkerProcess::drain() {
  ::kill(pid_, SIGTERM);
  wait();
}

double WorkerProcess::cpu_seconds() const {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &used) != 0)
    throw std::runtime_error{"a worker process has ended too soon"};
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace holdfast::bench
