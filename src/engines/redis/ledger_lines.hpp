#pragma once

#include <string>
#include <vector>

#include <holdfast/transaction.hpp>

#include "engines/redis/reply.hpp"
#include "tasks/stretch.hpp"

namespace holdfast::redis {

/// The name of a line in the hash of a ledger. The number comes first, so that a series may have
/// any name.
std::string ledger_field(const std::string& series, std::int64_t ordinal);
/// The lines of such a hash, as HGETALL answers it, by series and ordinal. Fields that are no lines
/// are left out.
std::vector<LedgerEntry> ledger_lines(const Value& hash);

/// Of the names in such a hash, as HKEYS answers them, those of a stretch of its lines.
std::vector<std::string> ledger_fields(const Value& keys, Stretch stretch);
/// The lines of these names, whose values are what HMGET answers. Lines that are gone are left out.
std::vector<LedgerEntry> ledger_lines(const std::vector<std::string>& fields, const Value& values);

}  // namespace holdfast::redis
