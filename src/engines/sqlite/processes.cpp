#include "engines/sqlite/processes.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "recovery/time_text.hpp"

namespace holdfast::sqlite {

namespace {

namespace fs = std::filesystem;

std::optional<int> number_of(const fs::path& entry) {
  auto name = entry.filename().string();
  int pid = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc{} || end != name.data() + name.size()) return {};
  return pid;
}

bool has_open(int pid, const struct stat& wanted) {
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator{fmt::format("/proc/{}/fd", pid), gone}) {
    struct stat info {};
    if (::stat(entry.path().c_str(), &info) == 0 && info.st_dev == wanted.st_dev &&
        info.st_ino == wanted.st_ino)
      return true;
  }
  return false;
}

}  // namespace

std::optional<ProcessSighting> look_at_process(int pid) {
  std::ifstream file{fmt::format("/proc/{}/stat", pid)};
  std::string line;
  if (!std::getline(file, line)) return {};
  // `pid (command) state ...`, and the command may contain anything.
  auto open = line.find('('), close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 2 >= line.size())
    return {};
  ProcessSighting seen{.pid = pid, .command = line.substr(open + 1, close - open - 1)};
  auto state = line[close + 2];
  seen.stopped = state == 'T' || state == 't';
  return seen;
}

std::vector<ProcessSighting> processes_with_open(const std::string& path) {
  std::vector<ProcessSighting> found;
  struct stat wanted {};
  if (::stat(path.c_str(), &wanted) != 0) return found;
  std::error_code unknown;
  for (const auto& entry : fs::directory_iterator{"/proc", unknown}) {
    auto pid = number_of(entry.path());
    if (!pid || *pid == ::getpid() || !has_open(*pid, wanted)) continue;
    if (auto seen = look_at_process(*pid)) found.push_back(*seen);
  }
  std::ranges::sort(found, {}, &ProcessSighting::pid);
  return found;
}

std::optional<int> sqlite_writer(const std::string& database) {
  constexpr std::uint64_t write_lock_byte = 120;  // of the -shm file, as SQLite documents it
  struct stat file {};
  if (::stat((database + "-shm").c_str(), &file) != 0) return {};
  std::ifstream locks{"/proc/locks"};
  for (std::string line; std::getline(locks, line);) {
    char kind[16] = {};
    int pid = 0;
    unsigned int major = 0, minor = 0;
    unsigned long long inode = 0, first = 0, last = 0;
    if (std::sscanf(line.c_str(), "%*d: POSIX %*s %15s %d %x:%x:%llu %llu %llu", kind, &pid, &major,
                    &minor, &inode, &first, &last) != 7)
      continue;  // another kind of lock, or one that goes on to the end of its file
    if (inode == file.st_ino && ::makedev(major, minor) == file.st_dev && pid > 0 &&
        std::string_view{kind} == "WRITE" && first <= write_lock_byte && write_lock_byte <= last)
      return pid;
  }
  return {};
}

std::string names_of(const std::vector<ProcessSighting>& processes) {
  std::string names;
  for (const auto& process : processes)
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", process.pid, process.command);
  return names;
}

std::string kept_waiting(const std::string& lock, std::optional<int> holder,
                         std::chrono::milliseconds waited) {
  auto text = fmt::format("waited {} for {}", duration_text(waited), lock);
  auto seen = holder ? look_at_process(*holder) : std::nullopt;
  if (!seen) return text + ", which another process holds; try again";
  text += fmt::format(", which process {} ({}) holds", seen->pid, seen->command);
  if (!seen->stopped) return text + "; try again, or see what it does";
  return text + fmt::format(
                    " and cannot give back because it is stopped; let it go on with 'kill -CONT "
                    "{}', or end it: what it had not finished is taken back",
                    seen->pid);
}

}  // namespace holdfast::sqlite
