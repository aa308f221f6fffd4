#include "recovery/child_lock.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "recovery/kill_point.hpp"

namespace holdfast {

namespace {

namespace fs = std::filesystem;

constexpr auto patience = std::chrono::seconds{2};
constexpr std::chrono::milliseconds time_to_die{500};
constexpr int between_looks_ms = 5;
/// Hidden, because they are no attempt's.
constexpr std::string_view shared_prefix = ".shared-";
constexpr long the_attempt = 0;
/// Held for a moment by whoever takes the attempt's lock or removes its file, so that nobody
/// removes a file that has just been taken.
constexpr long the_file = 1;
/// The child writes its group at the beginning of the file, the worker its own pid here.
constexpr off_t worker_pid_at = 32;

bool same_file(int fd, const std::string& path) {
  struct stat open {
  }, named{};
  return ::fstat(fd, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

int read_number(int fd, off_t at) {
  char text[16] = {};
  auto got = ::pread(fd, text, sizeof text - 1, at);
  int number = 0;
  if (got > 0) std::from_chars(text, text + got, number);
  return number;
}

/// Opens the file and has both its locks; nothing: somebody has one, or the name is another file's
/// by now.
FileDescriptor open_and_lock(const std::string& path) {
  auto file = open_private(path, O_RDWR | O_CREAT);
  if (!try_lock(file.get(), the_file) || !same_file(file.get(), path)) return {};
  if (!try_lock(file.get(), the_attempt)) return {};
  auto pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file.get(), 0) != 0 ||
      ::pwrite(file.get(), pid.data(), pid.size(), worker_pid_at) < 0)
    throw StoreError{"cannot write " + path};
  unlock(file.get(), the_file);
  return file;
}

/// Removes a name whose file no process has locked.
void remove_unlocked(const std::string& path) {
  FileDescriptor file{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
  if (!file || !try_lock(file.get(), the_file)) return;
  if (!is_locked(file.get(), the_attempt) && same_file(file.get(), path)) ::unlink(path.c_str());
}

[[noreturn]] void throw_still_running(TaskId task) {
  throw EarlierAttemptRuns{
      fmt::format("a process of an earlier attempt at task {} is still running", task.text())};
}

struct Process {
  int pid = 0;
  int group = 0;
};

int group_of(const fs::path& process) {
  std::ifstream file{process / "stat"};
  std::string line;
  std::getline(file, line);
  // The second field is the program's name in parentheses and may contain anything.
  auto after_name = line.rfind(')');
  if (after_name == std::string::npos) return 0;
  char state = 0;
  int parent = 0, group = 0;
  if (std::sscanf(line.c_str() + after_name + 1, " %c %d %d", &state, &parent, &group) != 3)
    return 0;
  return group;
}

/// Of processes that are gone or another user's nothing can be seen.
void expect_to_have_looked(int error) {
  if (lacks_resources(error))
    throw std::system_error{error, std::generic_category(),
                            "cannot look for the processes of an earlier attempt"};
}

/// Whether descriptor `fd` of a process carries the attempt's lock (and is not just a look at the
/// file, as we have one).
bool carries_lock(const fs::path& process, const std::string& fd) {
  std::ifstream info{process / "fdinfo" / fd};
  if (!info) expect_to_have_looked(errno);
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("lock:") && line.find("OFDLCK") != std::string::npos &&
        line.ends_with(" 0 0"))
      return true;
  }
  return false;
}

bool holds_lock(const fs::path& process, const struct stat& file) {
  std::error_code denied;
  const fs::directory_iterator descriptors{process / "fd", denied};
  expect_to_have_looked(denied.value());
  for (const auto& entry : descriptors) {
    struct stat open {};
    if (::stat(entry.path().c_str(), &open) == 0 && open.st_ino == file.st_ino &&
        open.st_dev == file.st_dev && carries_lock(process, entry.path().filename()))
      return true;
  }
  return false;
}

/// Every process that we can see to hold the lock, but us. Throws where we cannot look. Numbers of
/// processes can be used again, and mean something else in another container, so a process is
/// believed to belong to the attempt only if it carries the attempt's lock.
std::vector<Process> holders(int fd) {
  std::vector<Process> found;
  struct stat file {};
  if (::fstat(fd, &file) != 0) return found;
  std::error_code denied;
  const fs::directory_iterator processes{"/proc", denied};
  expect_to_have_looked(denied.value());
  for (const auto& entry : processes) {
    auto name = entry.path().filename().string();
    int pid = 0;
    auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc{} || *end != '\0' || pid == ::getpid()) continue;
    if (holds_lock(entry.path(), file)) found.push_back({pid, group_of(entry.path())});
  }
  return found;
}

void end_all(const std::vector<Process>& processes, int group) {
  for (const auto& process : processes) {
    if (process.group == group && group > 1 && group != ::getpgrp()) {
      ::kill(-group, SIGKILL);
    } else {
      ::kill(process.pid, SIGKILL);
    }
  }
}

}  // namespace

FileDescriptor take_child_lock(const HostFiles& files, TaskId task) {
  auto path = files.attempt(task);
  auto give_up = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < give_up) {
    if (auto file = open_and_lock(path)) return file;
    ::poll(nullptr, 0, between_looks_ms);
  }
  throw_still_running(task);
}

FileDescriptor make_shared_child_lock(const HostFiles& files) {
  std::error_code trouble;
  for (const auto& entry : fs::directory_iterator{files.attempts(), trouble})
    if (entry.path().filename().string().starts_with(shared_prefix)) remove_unlocked(entry.path());
  while (true) {
    // Somebody who looks for what is left may remove it before it is locked.
    auto path = fmt::format("{}/{}{}", files.attempts(), shared_prefix, TaskId::make().text());
    if (auto file = open_and_lock(path)) return file;
  }
}

void share_child_lock(const HostFiles& files, TaskId task, int lock) {
  auto path = files.attempt(task);
  auto own = fmt::format("/proc/self/fd/{}", lock);
  auto give_up = std::chrono::steady_clock::now() + patience;
  kill_point(KillPoint::row_lock_before_link);
  while (::linkat(AT_FDCWD, own.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    if (errno != EEXIST)
      throw StoreError{fmt::format("cannot make {}: {}", path, std::strerror(errno))};
    if (std::chrono::steady_clock::now() >= give_up) throw_still_running(task);
    remove_unlocked(path);
    ::poll(nullptr, 0, between_looks_ms);
  }
  kill_point(KillPoint::row_lock_after_link);
}

void drop_child_lock(const HostFiles& files, TaskId task, int fd) {
  auto path = files.attempt(task);
  auto give_up = std::chrono::steady_clock::now() + patience;
  // Between the look and the removal nobody may take the name for the next attempt.
  while (!try_lock(fd, the_file)) {
    if (std::chrono::steady_clock::now() >= give_up) return;
    ::poll(nullptr, 0, 5);
  }
  if (same_file(fd, path)) ::unlink(path.c_str());
  unlock(fd, the_file);
}

bool child_still_running(const HostFiles& files, TaskId task) try {
  FileDescriptor file{::open(files.attempt(task).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
  if (!file) return lacks_resources(errno);
  if (!try_lock(file.get(), the_file)) return true;
  if (is_locked(file.get(), the_attempt)) {
    auto worker = read_number(file.get(), worker_pid_at);
    auto found = holders(file.get());
    bool seen = worker == ::getpid() || !found.empty();
    std::erase_if(found, [&](const Process& process) { return process.pid == worker; });
    end_all(found, read_number(file.get(), 0));
    // Held by somebody we cannot see: then we cannot know, and wait.
    if (!seen || !found.empty()) return true;
    // Held by the worker alone: it is stopped or hung, but its child is gone. A new attempt gets
    // a file of its own.
  }
  drop_child_lock(files, task, file.get());
  return false;
} catch (const std::system_error&) {
  return true;  // we cannot know, and wait
}

bool any_child_locks(const HostFiles& files) {
  std::unique_ptr<DIR, int (*)(DIR*)> folder{::opendir(files.attempts().c_str()), ::closedir};
  if (!folder) return lacks_resources(errno);
  while (const dirent* entry = ::readdir(folder.get())) {
    if (entry->d_name[0] != '.') return true;
  }
  return false;
}

void leave_out_running_children(const HostFiles& files, std::vector<Orphan>& orphans) {
  if (orphans.empty() || !any_child_locks(files)) return;
  auto give_up = std::chrono::steady_clock::now() + time_to_die;
  std::erase_if(orphans, [&](const Orphan& orphan) {
    while (child_still_running(files, orphan.lease.id)) {
      if (std::chrono::steady_clock::now() >= give_up) return true;
      ::poll(nullptr, 0, 2);
    }
    return false;
  });
}

}  // namespace holdfast
