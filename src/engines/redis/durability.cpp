#include "engines/redis/durability.hpp"

#include <optional>

#include <fmt/format.h>

namespace holdfast::redis {

namespace {

/// A line `name:value` of what INFO answers.
std::string info_value(std::string_view info, std::string_view name) {
  auto line = fmt::format("\n{}:", name);
  auto at = info.find(line);
  if (at == std::string_view::npos) return {};
  info.remove_prefix(at + line.size());
  return std::string{info.substr(0, info.find('\r'))};
}

/// Nothing: the user may not ask. Servers that are rented often do not let anybody read their
/// settings.
std::optional<Reply> ask(Server& server, const Command& question) {
  try {
    return server.call(question);
  } catch (const Disconnected&) {
    throw;
  } catch (const StoreError&) {
    return {};
  }
}

std::string setting(Server& server, const std::string& name) {
  auto reply = ask(server, {"CONFIG", "GET", name});
  return reply && reply->size() == 2 ? (*reply)[1].string() : std::string{};
}

void expect_no_eviction(const std::string& name, std::string_view memory) {
  auto policy = info_value(memory, "maxmemory_policy");
  if (!policy.starts_with("allkeys") || info_value(memory, "maxmemory") == "0") return;
  throw StoreUnusable{fmt::format(
      "{} removes keys by itself when its memory is used up (maxmemory-policy {}), which would "
      "lose tasks; set maxmemory-policy to noeviction",
      name, policy)};
}

Persistence judge(bool appends, const std::string& sync, bool snapshots) {
  if (appends && sync == "always") return {"power-safe", {}};
  if (appends)
    return {"crash-safe",
            fmt::format("a crash of the Redis server may lose the last second of acknowledged work "
                        "(appendfsync is {}); set appendfsync to always",
                        sync.empty() ? "not known" : sync)};
  return {"volatile",
          fmt::format("a restart of the Redis server loses {} (appendonly is off); set appendonly "
                      "to yes and appendfsync to always",
                      snapshots ? "everything since its last snapshot" : "everything")};
}

}  // namespace

Persistence look_at_persistence(Server& server) {
  auto name = server.address().name();
  auto info = ask(server, {"INFO", "persistence"}), memory = ask(server, {"INFO", "memory"});
  Persistence persistence{
      "not known",
      "the user may not ask the Redis server what a restart of it loses (INFO), nor how a worker "
      "died; see docs/redis.md for the rights it needs"};
  if (memory) expect_no_eviction(name, memory->text());
  if (info)
    persistence = judge(info_value(info->text(), "aof_enabled") == "1",
                        setting(server, "appendfsync"), !setting(server, "save").empty());
  const auto& expected = server.address().expected;
  bool enough = !expected || persistence.mode == "power-safe" ||
                (*expected == Durability::crash_safe && persistence.mode == "crash-safe");
  if (!enough)
    throw StoreUnusable{fmt::format("{} is {} and not what the address asks for: {}", name,
                                    persistence.mode, persistence.warning)};
  return persistence;
}

}  // namespace holdfast::redis
