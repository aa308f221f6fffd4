#include "engines/sqlite/processes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
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
