#pragma once

#include <span>

#include "batches/batch_store.hpp"
#include "engines/postgres/connection.hpp"
#include "engines/postgres/store.hpp"

/// What the tables call now: a time without a zone, as the wall shows it.
#define HOLDFAST_NOW " to_timestamp({wall} / 1000.0)::timestamp "

/// Whether a row `r` that is found by its number is in progress. As text, because the server must
/// not look for it by its status: every row was in progress once, and the index of statuses keeps
/// that in mind until somebody has cleaned it up.
#define HOLDFAST_IN_PROGRESS " r.status::text = 'inprog' "

// The server plans a statement once and by what it last counted. It may have counted when no row
// was queued or nothing was claimed; then going through all of an index looks as good as looking
// something up, and stays the plan when there are thousands. So these leave it no choice.

/// Row `r` is one of `batch` and has this status: both are compared at once, so only the index of
/// both will do.
#define HOLDFAST_ROW_OF(batch, status)                                                   \
  " (r.batch, r.status) >= (" batch ", '" status "') AND (r.batch, r.status) <= (" batch \
  ", '" status "') "

/// What has this number: one of a list of one, which an index can only look up.
#define HOLDFAST_NUMBERED(column, number) " " column " = ANY (ARRAY[" number "]) "

/// Claim `c`, found by its row, is held: in words that the index of held claims does not know.
#define HOLDFAST_HELD " num_nulls(c.owner) = 0 "

/// Batch `b` has no row that is to be done.
#define HOLDFAST_NO_OPEN_ROWS                                                                 \
  " NOT EXISTS (SELECT 1 FROM alya.batchrows r WHERE r.batch = b.id AND r.status = 'queued')" \
  " AND NOT EXISTS (SELECT 1 FROM alya.batchrows r WHERE r.batch = b.id"                      \
  " AND r.status = 'inprog') "

/// The steps of batches, each inside a transaction that the caller has begun.
namespace holdfast::postgres {

/// As a parameter: every id is a uuid to the server.
inline TaskId uuid(BatchId id) { return TaskId{id.bytes}; }
inline BatchId batch_id(const Rows& rows, int column) {
  return BatchId{rows.task_id(column).bytes};
}

/// Leases as columns: the number of the row (0: a summary), the batch of a summary, the token.
struct LeaseColumns {
  void add(const Lease& lease);
  Array rows{Type::bigint}, batches{Type::uuid}, tokens{Type::bigint};
};

struct EndedUnits {
  std::vector<Settled> settled{};
  bool news = false;  ///< there is something to claim now that there was not
};
EndedUnits end_units(Connection& db, std::span<const UnitEnd> ends);

/// Rows only: whether a batch is ready to be summed up can only be seen after the commit.
void claim_rows(Connection& db, const ClaimRequest& request, Exchanged& into);

/// A batch of which no row is open.
struct Complete {
  BatchId id{};
  std::string kind{};
};
std::vector<Complete> complete_batches(Connection& db, const ClaimRequest& request, int limit);
void claim_summaries(Connection& db, const ClaimRequest& request,
                     std::span<const Complete> complete, Exchanged& into);
std::optional<WallTime> earliest_unit(Connection& db, const ClaimRequest& request);

}  // namespace holdfast::postgres
