#pragma once

#include "engines/postgres/connection.hpp"
#include "engines/postgres/writer.hpp"
#include "recovery/leases.hpp"

/// What taking back has in common, whatever is taken back: `of` is the row that says who has the
/// work and until when, `w` its worker.

/// Whose word is not needed any more: workers that were buried, said goodbye, or are not known.
#define HOLDFAST_GONE " w.id IS NULL OR w.died_at IS NOT NULL OR w.stopped_at IS NOT NULL "

/// Ends later than it could have been written to end: the server's clock was set back.
#define HOLDFAST_AHEAD(of, lease) " " of ".lease_until > {steady} + 2 * " lease " "

#define HOLDFAST_PAST_ITS_TIME(of) \
  " (" of ".lease_until < {steady} OR" HOLDFAST_AHEAD(of, "w.lease") ") "

/// Whose work may be taken: of workers that are gone, and claims past their time.
#define HOLDFAST_ORPHANED(of) " (" HOLDFAST_GONE "OR" HOLDFAST_PAST_ITS_TIME(of) ") "

/// The same, if the claim still ends when it ended for who decided. `until` is NULL where that was
/// not for its age: then only a worker that is gone counts.
#define HOLDFAST_STILL_ORPHANED(of, until) \
  " (" HOLDFAST_GONE "OR (" of ".lease_until = " until " AND" HOLDFAST_PAST_ITS_TIME(of) ")) "

/// What `read_orphan` reads; $1 are workers that are to be taken for buried.
#define HOLDFAST_ORPHAN_COLUMNS(of)                                                 \
  " " of ".token, " of                                                              \
  ".owner, w.id IS NOT NULL AND w.died_at IS NULL AND w.stopped_at IS NULL"         \
  " AND NOT w.id = ANY($1), " of ".attempt, " of ".crashes, " of ".recoveries, " of \
  ".suspect,"                                                                       \
  " coalesce(" of ".lease_until, 0), coalesce(" HOLDFAST_AHEAD(of, "w.lease") ", false) "

namespace holdfast::postgres {

inline constexpr Writer::KillPoints renew_points{KillPoint::renew_before_commit,
                                                 KillPoint::renew_after_commit};
inline constexpr Writer::KillPoints reclaim_points{KillPoint::reclaim_before_commit,
                                                   KillPoint::reclaim_after_commit};
inline constexpr int orphan_columns = 9;

/// All but what it is.
inline Orphan read_orphan(const Rows& row) {
  Orphan orphan;
  orphan.lease.token = Token{row.integer(0)};
  if (!row.is_null(1)) orphan.worker = row.worker_id(1);
  orphan.expired = row.yes(2);
  orphan.attempt = row.small(3);
  orphan.crashes = row.small(4);
  orphan.recoveries = row.small(5);
  orphan.suspect = row.yes(6);
  orphan.lease_until = Millis{row.integer(7)};
  orphan.ahead = row.yes(8);
  return orphan;
}

}  // namespace holdfast::postgres
