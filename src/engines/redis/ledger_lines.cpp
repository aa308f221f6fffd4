#include "engines/redis/ledger_lines.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include "engines/redis/arguments.hpp"

namespace holdfast::redis {

namespace {

/// Nothing: it is not the name of a line.
std::optional<LedgerEntry> line_named(std::string_view field) {
  if (field.find(separator) == std::string_view::npos) return {};
  auto place = split(field, 2);
  return LedgerEntry{std::string{place[1]}, parse_number(place[0]), {}};
}

auto place_of(const LedgerEntry& entry) { return std::tie(entry.series, entry.ordinal); }

}  // namespace

std::string ledger_field(const std::string& series, std::int64_t ordinal) {
  return fmt::format("{}{}{}", ordinal, separator, series);
}

std::vector<LedgerEntry> ledger_lines(const Value& hash) {
  std::vector<LedgerEntry> entries;
  for (std::size_t i = 0; i + 1 < hash.size(); i += 2)
    if (auto line = line_named(hash[i].text())) {
      line->value = hash[i + 1].string();
      entries.push_back(*std::move(line));
    }
  std::ranges::sort(entries, {}, place_of);
  return entries;
}

std::vector<std::string> ledger_fields(const Value& keys, Stretch stretch) {
  std::vector<LedgerEntry> lines;
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (auto line = line_named(keys[i].text())) lines.push_back(*std::move(line));
  std::ranges::sort(lines, {}, place_of);
  std::vector<std::string> fields;
  const auto first = std::min<std::int64_t>(stretch.skip, std::ssize(lines));
  const auto count = std::min<std::int64_t>(stretch.most, std::ssize(lines) - first);
  for (const auto& line :
       std::span{lines}.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)))
    fields.push_back(ledger_field(line.series, line.ordinal));
  return fields;
}

std::vector<LedgerEntry> ledger_lines(const std::vector<std::string>& fields, const Value& values) {
  std::vector<LedgerEntry> entries;
  for (std::size_t i = 0; i < fields.size() && i < values.size(); ++i) {
    if (values[i].is_nil()) continue;
    entries.push_back(line_named(fields[i]).value());
    entries.back().value = values[i].string();
  }
  return entries;
}

}  // namespace holdfast::redis
