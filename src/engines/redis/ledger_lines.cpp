#include "engines/redis/ledger_lines.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "engines/redis/arguments.hpp"

namespace holdfast::redis {

std::string ledger_field(const std::string& series, std::int64_t ordinal) {
  return fmt::format("{}{}{}", ordinal, separator, series);
}

std::vector<LedgerEntry> ledger_lines(const Value& hash) {
  std::vector<LedgerEntry> entries;
  for (std::size_t i = 0; i + 1 < hash.size(); i += 2) {
    if (hash[i].text().find(separator) == std::string_view::npos) continue;
    auto place = split(hash[i].text(), 2);
    entries.push_back({place[1], parse_number(place[0]), hash[i + 1].string()});
  }
  std::ranges::sort(entries, {},
                    [](const LedgerEntry& entry) { return std::tie(entry.series, entry.ordinal); });
  return entries;
}

}  // namespace holdfast::redis
