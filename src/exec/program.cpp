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
#include <fstream>
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

bool is_plain(std::string_view word) {
  auto is_plain_character = [](unsigned char c) {
    return std::isalnum(c) || std::strchr("._/+-", c);
  };
  return !word.empty() && std::ranges::all_of(word, is_plain_character);
}

/// Words after which the shell still expects a command, and commands that run another one.
bool runs_what_follows(std::string_view word) {
  constexpr std::string_view such[] = {"!",      "{",    "command", "do",      "elif",  "else",
                                       "env",    "exec", "if",      "nice",    "nohup", "setsid",
                                       "stdbuf", "then", "time",    "timeout", "until", "while"};
  return std::ranges::find(such, word) != std::end(such);
}

/// An option, a number or an assignment before the name of a command.
bool is_before_command(std::string_view word) {
  return word.starts_with('-') || std::isdigit(static_cast<unsigned char>(word.front())) ||
         word.find('=') != std::string_view::npos;
}

/// The words of a line for the shell that can only be names of commands. Quotes are not understood:
/// a word with one is not such a name.
std::vector<std::string> commands_in(std::string_view line) {
  constexpr std::string_view ends = ";&|()\n", spaces = " \t";
  std::vector<std::string> commands;
  bool expected = true;
  while (!line.empty()) {
    if (ends.find(line.front()) != std::string_view::npos) expected = true;
    if ((ends.find(line.front()) != std::string_view::npos) ||
        (spaces.find(line.front()) != std::string_view::npos)) {
      line.remove_prefix(1);
      continue;
    }
    const auto word = line.substr(0, line.find_first_of(";&|()\n \t"));
    line.remove_prefix(word.size());
    if (!expected || runs_what_follows(word) || is_before_command(word)) continue;
    expected = false;
    if (is_plain(word)) commands.emplace_back(word);
  }
  return commands;
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

/// The same, and what a script names as its interpreter is there.
bool can_be_run(const std::string& word) {
  if (!shell_knows(word)) return false;
  if (word.find('/') == std::string::npos) return true;
  std::string mark, interpreter;
  std::ifstream script{word};
  std::getline(script, mark, '!');
  if (mark != "#" || !(script >> interpreter)) return true;
  return ::access(interpreter.c_str(), X_OK) == 0;
}

}  // namespace

void expect_program(const std::vector<std::string>& command, bool not_a_line) {
  if (command.size() == 1 && !not_a_line) {
    const auto& line = command.front();
    const auto word = line.substr(0, line.find_first_of(" \t\n"));
    if (is_plain(word) && !shell_knows(word))
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
  return !std::ranges::all_of(commands_in(command.front()), can_be_run);
}

Program program_for(const std::vector<std::string>& command, bool not_a_line,
                    const Attempt& attempt, std::span<const std::string> passed) {
  if (command.size() == 1 && !not_a_line)
    return {"/bin/sh", {"sh", "-c", command.front()}, environment_for(attempt, passed)};
  return {find_in_path(command.front()), command, environment_for(attempt, passed)};
}

}  // namespace holdfast
