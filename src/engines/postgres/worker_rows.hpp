#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engines/postgres/connection.hpp"
#include "recovery/roster.hpp"

namespace holdfast::postgres {

/// A row of the table of workers, as it was when it was asked for.
struct WorkerRow : RosterRow {
  std::string session{};       ///< the run of the server whose lock proves its life; empty: none
  std::optional<bool> free{};  ///< its lock; nothing: this run of the server never had it
};

enum class WhichWorkers { not_gone, all };
/// Looks at the locks, too. A lock is tried for a moment, in a way that is in nobody's way.
std::vector<WorkerRow> worker_rows(Connection& db, WhichWorkers which);

/// Whether it is worth to look: some worker seems to be dead, or is not cleared yet.
bool anybody_dead(Connection& db);

/// What is known about a worker by one look, without its remains.
Sighting judge(const WorkerRow& row);

}  // namespace holdfast::postgres
