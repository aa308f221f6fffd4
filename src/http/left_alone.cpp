#include "http/left_alone.hpp"

#include <map>

#include <fmt/format.h>
#include <boost/json.hpp>

namespace holdfast::http {

namespace json = boost::json;

namespace {

/// It goes with every heartbeat, so it must stay small.
constexpr std::size_t most_told = 20;
constexpr std::size_t longest_why = 160;

std::string text_in(const json::object& object, const char* name) {
  const auto* found = object.if_contains(name);
  return found && found->is_string() ? std::string{found->get_string()} : std::string{};
}

std::int64_t number_in(const json::object& object, const char* name) {
  const auto* found = object.if_contains(name);
  return found && found->is_int64() ? found->get_int64() : 0;
}

}  // namespace

std::string host_text(const Origin& origin) {
  const bool is_ipv6 = origin.host.find(':') != std::string::npos;
  const auto host = is_ipv6 ? fmt::format("[{}]", origin.host) : origin.host;
  const int usual = origin.scheme == "https" ? 443 : 80;
  return origin.port == usual ? host : fmt::format("{}:{}", host, origin.port);
}

std::string Standing::text() const {
  json::array list;
  for (const auto& each : left_alone) {
    if (list.size() == most_told) break;
    list.push_back(json::object{{"host", each.host},
                                {"until", each.until.time_since_epoch().count()},
                                {"failures", each.failures},
                                {"why", each.why.substr(0, longest_why)}});
  }
  json::object told{{"state", state}, {"per_host", per_host}, {"left_alone", std::move(list)}};
  if (!trouble.empty()) told["trouble"] = trouble.substr(0, longest_why);
  return json::serialize(told);
}

Standing Standing::parse(std::string_view text) {
  json::error_code wrong;
  const auto value = json::parse({text.data(), text.size()}, wrong);
  const auto* object = wrong ? nullptr : value.if_object();
  if (!object) return {};
  Standing standing{.state = text_in(*object, "state"),
                    .per_host = static_cast<int>(number_in(*object, "per_host")),
                    .trouble = text_in(*object, "trouble")};
  const auto* list = object->if_contains("left_alone");
  if (!list || !list->is_array()) return standing;
  for (const auto& each : list->get_array())
    if (const auto* host = each.if_object())
      standing.left_alone.push_back(
          {text_in(*host, "host"), WallTime{Millis{number_in(*host, "until")}},
           static_cast<int>(number_in(*host, "failures")), text_in(*host, "why")});
  return standing;
}

std::vector<LeftAlone> left_alone_by_any(const std::vector<Standing>& standings, WallTime now) {
  std::map<std::string, LeftAlone> found;
  for (const auto& standing : standings)
    for (const auto& host : standing.left_alone)
      if (auto& latest = found[host.host]; latest.until < host.until) latest = host;
  std::vector<LeftAlone> still;
  for (const auto& [name, host] : found)
    if (host.until > now) still.push_back(host);
  return still;
}

}  // namespace holdfast::http
