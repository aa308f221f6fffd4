#pragma once

#include <span>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/writer.hpp"
#include "recovery/leases.hpp"

/// What taking back has in common, whatever is taken back: `of` is the row that says who has the
/// work and until when, `w` its worker.

/// Whose work may be taken: workers that were buried, said goodbye, or are not known at all, and
/// claims past their time, if that can be read on our clock. ?3 is now, ?4 our clock's domain.
#define HOLDFAST_ORPHANED(of)                                            \
  " (w.seq IS NULL OR w.died_at IS NOT NULL OR w.stopped_at IS NOT NULL" \
  "  OR (" of ".lease_until < ?3 AND w.clock = ?4)) "

/// The same, if the claim still ends at `until`, when it ended for who decided. NULL where that was
/// not for its age: then only a worker that is gone counts; see `end_believed`.
#define HOLDFAST_STILL_ORPHANED(of, until)                               \
  " (w.seq IS NULL OR w.died_at IS NOT NULL OR w.stopped_at IS NOT NULL" \
  "  OR (" of ".lease_until < ?3 AND w.clock = ?4 AND " of ".lease_until = " until ")) "

/// ?1 are the ids of workers that are to be taken for buried; mostly there are none.
#define HOLDFAST_PRESUMED_DEAD " (?1 <> '' AND instr(?1, hex(w.id)) > 0) "

/// What `read_orphan` reads.
#define HOLDFAST_ORPHAN_COLUMNS(of)                                                            \
  " " of                                                                                       \
  ".token, w.id, w.seq IS NOT NULL AND w.died_at IS NULL AND w.stopped_at IS NULL"             \
  " AND NOT" HOLDFAST_PRESUMED_DEAD ", " of ".attempt, " of ".crashes, " of ".recoveries, " of \
  ".suspect, coalesce(" of ".lease_until, 0) "

namespace holdfast::sqlite {

inline constexpr Writer::KillPoints renew_points{KillPoint::renew_before_commit,
                                                 KillPoint::renew_after_commit};
inline constexpr Writer::KillPoints reclaim_points{KillPoint::reclaim_before_commit,
                                                   KillPoint::reclaim_after_commit};
inline constexpr int orphan_columns = 8;

/// Ids as SQLite's `hex` writes them, with something between them.
inline std::string hex_list(std::span<const WorkerId> ids) {
  std::string list;
  for (const auto& id : ids) list += fmt::format("{:02X},", fmt::join(id.bytes, ""));
  return list;
}

inline std::optional<Millis> end_believed(const Verdict& verdict) {
  if (!verdict.expired) return {};
  return verdict.lease_until;
}

/// All but what it is.
inline Orphan read_orphan(const Statement& row) {
  Orphan orphan;
  orphan.lease.token = Token{row.integer(0)};
  orphan.worker = row.worker_id(1);
  orphan.expired = row.integer(2) != 0;
  orphan.attempt = static_cast<int>(row.integer(3));
  orphan.crashes = static_cast<int>(row.integer(4));
  orphan.recoveries = static_cast<int>(row.integer(5));
  orphan.suspect = row.integer(6) != 0;
  orphan.lease_until = Millis{row.integer(7)};
  return orphan;
}

}  // namespace holdfast::sqlite
