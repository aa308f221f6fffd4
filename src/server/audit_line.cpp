#include "server/audit_line.hpp"

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "documents/json.hpp"
#include "recovery/plain_text.hpp"
#include "recovery/time_text.hpp"
#include "server/fields.hpp"
#include "server/secrets.hpp"
#include "tasks/json_text.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t most_who = 200;
constexpr std::size_t most_from = 100;
constexpr std::size_t most_what = 1'000;
constexpr std::size_t most_store = 500;
constexpr std::size_t most_details = 2'000;
constexpr std::size_t most_outcome = 500;

constexpr std::string_view before_hash = ",\"hash\":\"";
constexpr std::string_view after_hash = "\"}";
constexpr std::size_t hash_size = 64;
constexpr std::size_t ending_size = before_hash.size() + hash_size + after_hash.size();

/// The beginning of `text` in at most `most` bytes of UTF-8, without a part of a character.
std::string beginning(std::string_view text, std::size_t most) {
  constexpr std::string_view replacement = "\xef\xbf\xbd";
  std::string kept;
  while (!text.empty()) {
    const auto size = utf8_character(text);
    const auto character = size == 0 ? replacement : text.substr(0, size);
    if (kept.size() + character.size() > most) break;
    kept += character;
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return kept;
}

std::string without_hash(const AuditEntry& entry) {
  return JsonObject{}
      .number("n", entry.n)
      .text("at", iso8601(entry.at))
      .text("who", entry.who)
      .text("from", entry.from)
      .text("what", entry.what)
      .text("store", entry.store)
      .text("details", entry.details)
      .text("outcome", entry.outcome)
      .str();
}

}  // namespace

std::string audit_json(const AuditEntry& entry) {
  auto text = without_hash(entry);
  text.pop_back();
  return fmt::format("{}{}{}{}", text, before_hash, entry.hash, after_hash);
}

AuditEntry as_kept(AuditEntry entry) {
  entry.who = beginning(entry.who, most_who);
  entry.from = beginning(entry.from, most_from);
  entry.what = beginning(entry.what, most_what);
  entry.store = beginning(entry.store, most_store);
  entry.details = beginning(entry.details, most_details);
  entry.outcome = beginning(entry.outcome, most_outcome);
  return entry;
}

void chain_to(std::string_view hash_before, AuditEntry& entry) {
  entry.hash = fingerprint(fmt::format("{}\n{}", hash_before, without_hash(entry)));
}

bool is_chained(std::string_view hash_before, std::string_view line) {
  if (line.size() < ending_size) return false;
  const auto ending = line.substr(line.size() - ending_size);
  if (!ending.starts_with(before_hash) || !ending.ends_with(after_hash)) return false;
  const auto hashed =
      fmt::format("{}\n{}}}", hash_before, line.substr(0, line.size() - ending_size));
  return ending.substr(before_hash.size(), hash_size) == fingerprint(hashed);
}

AuditEntry read_audit_line(const std::string& line) {
  if (const auto fault = json_fault(line); !fault.empty()) throw InvalidRequest{fault};
  const Fields fields{line};
  AuditEntry entry;
  entry.n = fields.required_number("n", 1, INT64_MAX);
  entry.at = parse_iso8601(fields.required_text("at")).value_or(WallTime{});
  entry.who = fields.required_text("who");
  entry.from = fields.required_text("from");
  entry.what = fields.required_text("what");
  entry.store = fields.required_text("store");
  entry.details = fields.required_text("details");
  entry.outcome = fields.required_text("outcome");
  entry.hash = fields.required_text("hash");
  return entry;
}

}  // namespace holdfast::server
