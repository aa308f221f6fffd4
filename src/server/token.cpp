#include "server/token.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/error.hpp>
#include <holdfast/http/client.hpp>

#include "documents/json.hpp"
#include "recovery/time_text.hpp"
#include "server/fields.hpp"
#include "server/problem.hpp"
#include "tasks/json_text.hpp"
#include "tasks/names.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t longest_token_name = 40;  // with "token-" before it, it is a tag
constexpr std::size_t most_patterns = 100;
constexpr std::size_t fingerprint_digits = 64;
constexpr std::chrono::hours longest_life{24 * 3'653};
constexpr std::string_view reserved = "holdfast.";
/// The one of these that a caller can ask for, by a way of its own.
constexpr std::string_view requests = http::request_kind;
constexpr std::int64_t largest_quota = 1'000'000'000;

bool fits(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

bool allows(const std::vector<std::string>& patterns, std::string_view name) {
  if (name.starts_with(reserved)) return false;
  return patterns.empty() ||
         std::ranges::any_of(patterns, [&](const auto& pattern) { return fits(pattern, name); });
}

void check_patterns(std::string_view what, const std::vector<std::string>& patterns) {
  if (patterns.size() > most_patterns)
    throw InvalidRequest{fmt::format("the token has {} {}s; at most {} are allowed",
                                     patterns.size(), what, most_patterns)};
  for (const auto& pattern : patterns) {
    check_name(what, pattern, longest_name);
    if (const auto star = pattern.find('*'); star < pattern.size() - 1)
      throw InvalidRequest{fmt::format(
          "the {} is '{}'; a '*' is allowed only at the end, such as 'mail.*'", what, pattern)};
    if (pattern.starts_with(reserved) && !(what == "kind" && pattern == requests))
      throw InvalidRequest{
          fmt::format("the {} is '{}'; names that begin with '{}' are reserved for Holdfast itself",
                      what, pattern, reserved)};
  }
}

void check_token_name(std::string_view name) {
  const bool plain = std::ranges::all_of(name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-';
  });
  if (name.empty() || name.size() > longest_token_name || !plain || name.front() == '-')
    throw InvalidRequest{fmt::format(
        "'{}' cannot be the name of a token; write 1 to {} characters out of a-z, 0-9 and '-', "
        "and no '-' at the beginning",
        name, longest_token_name)};
}

void check_scopes(const ProgramToken& token) {
  if (token.scopes.empty())
    throw InvalidRequest{
        "the token has no scope; give one or more of metrics, enqueue, work, viewer, operator and "
        "admin"};
  const bool has_quota = token.quota_per_minute || token.quota_waiting;
  if (has_quota && !token.has(Scope::enqueue))
    throw InvalidRequest{
        "a quota limits the scope enqueue, and the token does not have it; leave the quota out"};
  if (std::ranges::count(token.kinds, requests) > 0 && !token.has(Scope::enqueue))
    throw InvalidRequest{fmt::format(
        "the kind '{}' is for the scope enqueue, and the token does not have it", requests)};
  if (token.queues.empty() && token.kinds.empty() && !has_quota) return;
  if (!token.has(Scope::enqueue) && !token.has(Scope::work))
    throw InvalidRequest{
        "queues and kinds limit the scopes enqueue and work, and the token has neither; leave them "
        "out"};
  if (token.role() >= Role::operates)
    throw InvalidRequest{fmt::format(
        "a token with the scope {} may use every queue and kind, so it cannot be limited to some "
        "or have a quota; leave the scope or the limits out",
        to_string(token.role()))};
}

std::vector<std::string> scope_names(const ProgramToken& token) {
  std::vector<std::string> names;
  for (const auto scope : token.scopes) names.emplace_back(to_string(scope));
  return names;
}

std::string time_or_null(const std::optional<WallTime>& time) {
  return time ? json_string(iso8601(*time)) : "";
}

std::string number_or_null(const std::optional<int>& number) {
  return number ? std::to_string(*number) : "";
}

WallTime time_of(const Fields& fields, std::string_view name) {
  if (const auto time = parse_iso8601(fields.required_text(name))) return *time;
  throw invalid(fmt::format("{} is not a time", name));
}

std::optional<WallTime> time_if_any(const Fields& fields, std::string_view name) {
  if (fields.raw(name) == "null") return {};
  return time_of(fields, name);
}

/// What is left out must not mean more than what is there: no end, or every queue.
std::vector<std::string> list_of(const Fields& fields, std::string_view name) {
  const auto value = fields.raw(name);
  if (!value || !value->starts_with('[')) throw invalid(fmt::format("{} is not a list", name));
  return fields.texts(name);
}

JsonObject described(const ProgramToken& token) {
  JsonObject object;
  object.text("name", token.name)
      .json("scopes", json_array(scope_names(token)))
      .json("queues", json_array(token.queues))
      .json("kinds", json_array(token.kinds))
      .json("quota_per_minute", number_or_null(token.quota_per_minute))
      .json("quota_waiting", number_or_null(token.quota_waiting))
      .text("created", iso8601(token.created))
      .text("created_by", token.created_by)
      .json("expires", time_or_null(token.expires))
      .json("revoked", time_or_null(token.revoked))
      .json("revoked_by", token.revoked ? json_string(token.revoked_by) : "");
  return object;
}

}  // namespace

std::optional<int> quota_of(const Fields& fields, std::string_view name) {
  const auto quota = fields.number(name, 1, largest_quota);
  if (!quota) return {};
  return static_cast<int>(*quota);
}

Role ProgramToken::role() const {
  Role highest = Role::none;
  for (const auto scope : scopes) highest = std::max(highest, role_of(scope));
  return highest;
}

bool ProgramToken::allows_queue(std::string_view queue) const { return allows(queues, queue); }
bool ProgramToken::allows_kind(std::string_view kind) const {
  return kind == requests ? std::ranges::count(kinds, kind) > 0 : allows(kinds, kind);
}

std::string_view ProgramToken::state(WallTime now) const {
  if (revoked) return "revoked";
  return expires && *expires <= now ? "expired" : "active";
}

void validate(const ProgramToken& token, WallTime now) {
  check_token_name(token.name);
  check_scopes(token);
  check_patterns("queue", token.queues);
  check_patterns("kind", token.kinds);
  if (!token.expires) return;
  if (*token.expires <= now)
    throw InvalidRequest{
        fmt::format("the token would expire at {}, which is not in the future; choose a later time",
                    iso8601(*token.expires))};
  if (*token.expires > now + longest_life)
    throw InvalidRequest{fmt::format(
        "the token would expire at {}, which is more than 10 years from now; choose an earlier "
        "time, or none for a token that does not expire",
        iso8601(*token.expires))};
}

std::string token_json(const ProgramToken& token, WallTime now, std::optional<WallTime> last_used) {
  return described(token)
      .text("state", token.state(now))
      .json("last_used", time_or_null(last_used))
      .str();
}

std::string token_line(const ProgramToken& token) {
  return described(token).text("fingerprint", token.fingerprint).str();
}

ProgramToken read_token(const std::string& line) {
  if (const auto fault = json_fault(line); !fault.empty()) throw invalid("not JSON: " + fault);
  const Fields fields{line};
  fields.only({"name", "fingerprint", "scopes", "queues", "kinds", "quota_per_minute",
               "quota_waiting", "created", "created_by", "expires", "revoked", "revoked_by"});
  ProgramToken token{.name = fields.required_text("name"),
                     .fingerprint = fields.required_text("fingerprint"),
                     .queues = list_of(fields, "queues"),
                     .kinds = list_of(fields, "kinds"),
                     .quota_per_minute = quota_of(fields, "quota_per_minute"),
                     .quota_waiting = quota_of(fields, "quota_waiting"),
                     .created = time_of(fields, "created"),
                     .created_by = fields.text("created_by").value_or(""),
                     .expires = time_if_any(fields, "expires"),
                     .revoked = time_if_any(fields, "revoked"),
                     .revoked_by = fields.text("revoked_by").value_or("")};
  for (const auto& name : list_of(fields, "scopes")) {
    const auto scope = parse_scope(name);
    if (!scope) throw invalid(fmt::format("unknown scope '{}'", name));
    token.scopes.insert(*scope);
  }
  check_token_name(token.name);
  check_scopes(token);
  check_patterns("queue", token.queues);
  check_patterns("kind", token.kinds);
  const bool hashed = token.fingerprint.size() == fingerprint_digits &&
                      token.fingerprint.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!hashed) throw invalid("the fingerprint is not 64 hexadecimal digits");
  return token;
}

}  // namespace holdfast::server
