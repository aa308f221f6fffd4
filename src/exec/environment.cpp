#include "exec/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include <holdfast/error.hpp>

namespace holdfast {

namespace {

/// All that begins so is ours.
constexpr std::string_view own_prefix = "HOLDFAST_";

/// What else is read by Holdfast, libpq and the units of the package, and may hold a secret or lead
/// to one.
constexpr std::array<std::string_view, 20> kept_back{
    "PGPASSWORD",
    "PGPASSFILE",
    "PGSERVICE",
    "PGSERVICEFILE",
    "PGSSLKEY",
    "PGSSLCERT",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_STORAGE_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
    "CREDENTIALS_DIRECTORY",
    "NOTIFY_SOCKET",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
    "WORKER",          // the command line of a worker, in its unit
    "SERVER_OPTIONS",  // and that of the server
};

bool is_kept_back(std::string_view name) {
  return name.starts_with(own_prefix) || std::ranges::find(kept_back, name) != kept_back.end();
}

}  // namespace

std::vector<std::string> program_environment(std::span<const std::string> passed) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text{*entry};
    const auto name = text.substr(0, text.find('='));
    if (!is_kept_back(name) || std::ranges::find(passed, name) != passed.end())
      environment.emplace_back(text);
  }
  return environment;
}

void expect_passable(std::span<const std::string> names) {
  for (const auto& name : names) {
    if (name.empty() || name.find('=') != name.npos)
      throw ConfigError{
          fmt::format("'{}' is not the name of an environment variable; write NAME alone", name)};
    if (!std::getenv(name.c_str()))
      throw ConfigError{fmt::format(
          "the environment variable {} that is to be passed to programs is not set", name)};
  }
}

}  // namespace holdfast
