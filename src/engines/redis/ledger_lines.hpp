#pragma once

#include <string>
#include <vector>

#include <holdfast/transaction.hpp>

#include "engines/redis/reply.hpp"

namespace holdfast::redis {

/// The name of a line in the hash of a ledger. The number comes first, so that a series may have
/// any name.
std::string ledger_field(const std::string& series, std::int64_t ordinal);
/// The lines of such a hash, as HGETALL answers it, by series and ordinal. Fields that are no lines
/// are left out.
std::vector<LedgerEntry> ledger_lines(const Value& hash);

}  // namespace holdfast::redis
