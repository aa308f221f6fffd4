#include "engines/redis/server_check.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include <fmt/format.h>

#include "tasks/clear_text.hpp"

namespace holdfast::redis {

namespace {

using Version = std::array<int, 3>;

/// The first repaired version of each series; series after the last were never affected.
constexpr std::array repaired_redis{Version{6, 2, 20}, Version{7, 0, 15}, Version{7, 2, 11},
                                    Version{7, 4, 6},  Version{8, 0, 4},  Version{8, 2, 2}};
constexpr std::array repaired_valkey{Version{7, 2, 11}, Version{8, 0, 6}, Version{8, 1, 4}};

std::string_view value_of(std::string_view info, std::string_view name) {
  auto at = info.find(name);
  if (at == info.npos) return {};
  info.remove_prefix(at + name.size());
  return info.substr(0, info.find_first_of("\r\n"));
}

Version parse(std::string_view text) {
  Version version{};
  for (auto& part : version) {
    auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), part);
    if (wrong != std::errc{}) break;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with('.')) text.remove_prefix(1);
  }
  return version;
}

bool is_repaired(const Version& version, std::span<const Version> repaired) {
  auto same_series = [&](const Version& one) {
    return one[0] == version[0] && one[1] == version[1];
  };
  auto found = std::ranges::find_if(repaired, same_series);
  return found == repaired.end() ? version > repaired.back() : version >= *found;
}

}  // namespace

std::string script_engine_warning(std::string_view info) {
  auto valkey = value_of(info, "valkey_version:");
  auto text = valkey.empty() ? value_of(info, "redis_version:") : valkey;
  if (text.empty()) return {};
  auto version = parse(text);
  bool repaired =
      valkey.empty() ? is_repaired(version, repaired_redis) : is_repaired(version, repaired_valkey);
  if (repaired) return {};
  return fmt::format(
      "the server is {} {}, whose script engine lets everyone who may run scripts take it over "
      "(CVE-2025-49844), unless your distribution repaired it under the same number; see "
      "docs/redis.md#versions",
      valkey.empty() ? "Redis" : "Valkey", text);
}

std::vector<std::string> look_for_holes(Server& server) {
  std::vector<std::string> holes;
  auto connection = server.connect();
  auto info = connection->call({"INFO", "server"});
  if (!info.is_error())
    if (auto warning = script_engine_warning(info.text()); !warning.empty())
      holes.push_back(std::move(warning));
  if (!server.address().tls && leaves_machine(connection->fd()))
    holes.push_back(clear_text_warning(server.address().name(), "use rediss:// in its address"));
  return holes;
}

}  // namespace holdfast::redis
