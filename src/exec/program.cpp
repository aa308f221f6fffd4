#include "exec/program.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "exec/environment.hpp"

namespace holdfast {

namespace {

std::string find_in_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* variable = std::getenv("PATH");
  std::string_view path = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    auto colon = path.find(':');
    auto folder = path.substr(0, colon);
    auto candidate = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    if (colon == std::string_view::npos) break;
    path.remove_prefix(colon + 1);
  }
  throw ConfigError{fmt::format("cannot run {}: there is no such program in PATH", name)};
}

std::vector<std::string> environment_for(const Attempt& attempt,
                                         std::span<const std::string> passed) {
  const std::array ours = {
      fmt::format("HOLDFAST_TASK_ID={}", attempt.task().text()),
      fmt::format("HOLDFAST_KIND={}", attempt.kind()),
      fmt::format("HOLDFAST_ATTEMPT={}", attempt.number()),
      fmt::format("HOLDFAST_TOKEN={}", attempt.token().value),
      fmt::format("HOLDFAST_IDEMPOTENCY_KEY={}", attempt.idempotency_key()),
  };
  auto is_ours = [&](std::string_view entry) {
    auto name = entry.substr(0, entry.find('=') + 1);
    return std::any_of(ours.begin(), ours.end(),
                       [&](const auto& o) { return o.starts_with(name); });
  };
  std::vector<std::string> environment{ours.begin(), ours.end()};
  for (auto& entry : program_environment(passed))
    if (!is_ours(entry)) environment.push_back(std::move(entry));
  return environment;
}

/// The word that a line for the shell begins with, if it can only be the name of a command.
std::string plain_first_word(const std::string& line) {
  auto word = line.substr(0, line.find_first_of(" \t\n"));
  auto is_plain = [](unsigned char c) { return std::isalnum(c) || std::strchr("._/+-", c); };
  return std::all_of(word.begin(), word.end(), is_plain) ? word : "";
}

bool shell_knows(const std::string& word) {
  const char* arguments[] = {"sh", "-c",         "command -v -- \"$1\" >/dev/null 2>&1",
                             "sh", word.c_str(), nullptr};
  pid_t pid = -1;
  int status = 0;
  auto environment = program_environment();
  std::vector<char*> variables;
  for (auto& entry : environment) variables.push_back(entry.data());
  variables.push_back(nullptr);
  auto words = const_cast<char* const*>(arguments);  // posix_spawn changes none of them
  if (::posix_spawn(&pid, "/bin/sh", nullptr, nullptr, words, variables.data()) != 0) return true;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

void expect_program(const std::vector<std::string>& command, bool not_a_line) {
  if (command.size() == 1 && !not_a_line) {
    auto word = plain_first_word(command.front());
    if (!word.empty() && !shell_knows(word))
      throw ConfigError{fmt::format("cannot run {}: the shell knows no such command", word)};
    return;
  }
  auto path = find_in_path(command.front());
  if (std::filesystem::is_directory(path))
    throw ConfigError{fmt::format("cannot run {}: it is a folder", path)};
  if (::access(path.c_str(), X_OK) != 0)
    throw ConfigError{fmt::format("cannot run {}: {}", path, std::strerror(errno))};
}

bool shell_lacks(const std::vector<std::string>& command, bool not_a_line, int exit_code) {
  constexpr int not_executable = 126, not_found = 127;
  if (command.size() != 1 || not_a_line) return false;
  if (exit_code != not_found && exit_code != not_executable) return false;
  const auto word = plain_first_word(command.front());
  return !word.empty() && !shell_knows(word);
}

Program program_for(const std::vector<std::string>& command, bool not_a_line,
                    const Attempt& attempt, std::span<const std::string> passed) {
  if (command.size() == 1 && !not_a_line)
    return {"/bin/sh", {"sh", "-c", command.front()}, environment_for(attempt, passed)};
  return {find_in_path(command.front()), command, environment_for(attempt, passed)};
}

}  // namespace holdfast
