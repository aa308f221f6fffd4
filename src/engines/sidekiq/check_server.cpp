#include "engines/sidekiq/check_server.hpp"

#include <array>

#include <fmt/format.h>

#include "engines/redis/server_check.hpp"

namespace holdfast::sidekiq {

namespace {

bool says(const redis::Reply& info, std::string_view line) {
  return info.text().find(line) != std::string_view::npos;
}

/// Of what is kept in the keys of ours; the scripts compare it, too.
constexpr std::string_view known_format = "1";

}  // namespace

void check_format(redis::Server& server, const Dialect& dialect) {
  auto format = server.call({"GET", fmt::format("{}:holdfast:format", dialect.prefix)});
  if (format.is_nil() || format.text() == known_format) return;
  throw StoreUnusable{fmt::format(
      "another version of Holdfast keeps requests in flight at {} in format {}, and this one knows "
      "format {} only; use that version",
      server.address().name(), format.text(), known_format)};
}

std::vector<std::string> check_server(redis::Server& server) {
  std::array commands{redis::Command{"INFO", "cluster"}, redis::Command{"INFO", "memory"},
                      redis::Command{"INFO", "persistence"}};
  auto replies = server.call_all(commands);
  auto name = server.address().name();
  if (says(replies[0], "cluster_enabled:1"))
    throw StoreUnusable{fmt::format(
        "{} is a cluster; Sidekiq and its requests need a standalone Redis server", name)};
  if (says(replies[1], "maxmemory_policy:allkeys") && !says(replies[1], "\nmaxmemory:0\r"))
    throw StoreUnusable{fmt::format(
        "{} removes keys by itself when its memory is used up, which would lose jobs; set "
        "maxmemory-policy to noeviction",
        name)};
  auto warnings = redis::look_for_holes(server);
  if (!says(replies[2], "aof_enabled:1"))
    warnings.push_back(fmt::format(
        "a restart of the Redis server at {} loses jobs (appendonly is off); set appendonly to yes",
        name));
  return warnings;
}

}  // namespace holdfast::sidekiq
