#include "exec/program.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

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
  throw NotRunnable{fmt::format("cannot run {}: there is no such program in PATH", name)};
}

std::vector<std::string> environment_for(const Attempt& attempt) {
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
  for (char** entry = environ; *entry; ++entry)
    if (!is_ours(*entry)) environment.emplace_back(*entry);
  return environment;
}

}  // namespace

Program program_for(const std::vector<std::string>& command, bool not_a_line,
                    const Attempt& attempt) {
  if (command.size() == 1 && !not_a_line)
    return {"/bin/sh", {"sh", "-c", command.front()}, environment_for(attempt)};
  return {find_in_path(command.front()), command, environment_for(attempt)};
}

}  // namespace holdfast
