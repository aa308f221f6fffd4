#pragma once

#include <set>
#include <span>

#include "batches/batch_store.hpp"
#include "engines/sqlite/statements.hpp"

/// The steps of batches, each inside a transaction that the caller has begun.
namespace holdfast::sqlite {

inline std::span<const std::uint8_t> blob(const BatchId& id) { return std::span{id.bytes}; }
inline BatchId batch_id(const Statement& row, int column) {
  return BatchId{row.task_id(column).bytes};
}

/// Where the claim of a unit is.
struct UnitKey {
  std::int64_t row = 0;    ///< 0: a summary
  std::int64_t batch = 0;  ///< holdfast_batches.seq
};
/// The key of the unit that is claimed under this lease; nothing: it is not, or not any more.
std::optional<UnitKey> find_claim(Connection& db, const Lease& lease);

bool has_open_rows(Connection& db, std::int64_t batch);

struct EndedUnits {
  std::vector<Settled> settled{};
  bool news = false;  ///< there is something to claim now that there was not
};
EndedUnits end_units(Connection& db, std::span<const UnitEnd> ends, WallTime now);

void claim_units(Connection& db, const ClaimRequest& request, const ClaimTime& now,
                 Exchanged& into);
std::optional<WallTime> earliest_unit(Connection& db, const ClaimRequest& request);

}  // namespace holdfast::sqlite
