#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/inspector.hpp>
#include <holdfast/report.hpp>

#include "recovery/host_files.hpp"
#include "recovery/leases.hpp"

namespace holdfast {

/// What a worker says about itself when it starts.
struct WorkerProfile {
  std::vector<std::string> queues;  ///< empty: all
  std::vector<std::string> kinds;
  int concurrency = 1;
  Millis lease{90'000};      ///< silent for longer than this: stale
  Millis heartbeat{30'000};  ///< how often it will be heard of
  /// Its tasks run in another process, for which this one only speaks.
  bool remote = false;
};

/// A worker's standing proof of life and its board of running work. Letting go of it without
/// `WorkerRegistry::retire` is a small crash: others will notice and recover.
class Enlistment {
 public:
  virtual ~Enlistment() = default;
  virtual WorkerId id() const = 0;
  /// Notes that handler thread `slot` runs `lease`, where a recoverer can read it after our death
  /// even if the store was not reached. Costs a few stores to memory.
  virtual void started(int slot, const Lease& lease) = 0;
  virtual void finished(int slot) = 0;
  /// Notes that handlers from before this enlistment still run in this process, so that a crash is
  /// not blamed on the only one that is on this board.
  virtual void not_alone(bool others) = 0;
  /// Where the locks of its attempts' processes are; see child_lock.hpp.
  virtual const HostFiles& files() const = 0;
};

/// Stands among what was running where all of it ran in another process, which may well be alive.
/// It is kept like any other lease, and somebody who does not know it sees that something else was
/// running, too.
inline const Lease runs_elsewhere{TaskId{}, Token{-1}};

/// What a dead worker left on its board.
struct Remains {
  bool readable = false;           ///< false: nothing is known about what it was running
  bool machine_restarted = false;  ///< it ended with everything else: no task is to blame
  std::vector<Lease> running;      ///< in a handler at the moment of death
  std::string evidence;            ///< signal, out-of-memory kills; empty if nothing was visible

  bool elsewhere() const { return std::ranges::count(running, runs_elsewhere) > 0; }
};

struct Sighting {
  WorkerStatus status{};
  bool proven_dead = false;  ///< certain: it will never write again
  bool stale = false;        ///< silent for longer than its lease; may be alive
  bool buried = false;       ///< already declared dead, but not cleared yet
  Remains remains{};         ///< of dead and buried ones
  /// What is gone that proves its death, such as its connection: `bury` looks for it again. Empty
  /// where that is the worker's lock.
  std::string witness{};
  Millis lease_until{0};  ///< as the store has it, on the clock of its leases
  bool ahead = false;     ///< as of `Orphan`; such a worker is stale, too
};

/// What a worker told about its work.
struct ToldFigures {
  WorkerId worker;
  WallTime enlisted_at{};
  WallTime at{};  ///< when it was last heard of
  std::string figures{};
};

/// What a report says about a worker that is declared dead.
DeadWorker dead_worker(const Sighting& sighting);

/// Who is working on a store, who is dead, and how we know. Shared by all kinds of work.
class WorkerRegistry {
 public:
  virtual ~WorkerRegistry() = default;

  /// Registers a worker under a new id and takes up its proof of life. The first heartbeat is part
  /// of it: a worker that is registered but has not beaten yet does not exist.
  virtual std::unique_ptr<Enlistment> enlist(const WorkerProfile& profile) = 0;

  /// A heartbeat, with the tasks held and what the worker has counted since it enlisted (see
  /// figures.hpp; empty: nothing new). False: this worker was declared dead; it holds nothing any
  /// more and must enlist again under a new id.
  virtual bool beat(WorkerId worker, std::span<const TaskId> holding,
                    std::string_view figures = {}) = 0;

  /// A clean goodbye; it holds nothing any more. What it counted last is part of it.
  virtual void retire(WorkerId worker, std::string_view figures = {}) = 0;

  /// Every worker that is running, or is dead but not cleared yet.
  virtual std::vector<Sighting> look() = 0;

  /// Declares a worker dead: its claims become orphans and it can claim and beat no more; the
  /// report names it from then on. Checks in the same step that it has not been heard of since
  /// `look` (unless its death is proven). False: it was, or somebody else was faster.
  virtual bool bury(const Sighting& sighting, const ReportHead& report) = 0;

  /// Removes what a buried worker left behind, once it holds nothing any more. False: it still
  /// does.
  virtual bool clear(WorkerId worker) = 0;

  /// Waits until a worker seems to have died, `timeout` has passed, or stop is requested. True:
  /// it is worth looking.
  virtual bool wait_for_death(Millis timeout, std::stop_token stop) = 0;

  /// All workers, the dead and the stopped ones of the last days too. For people.
  virtual std::vector<WorkerStatus> list() = 0;

  /// What workers counted that were heard of `within` that time, be they gone by now. Without those
  /// who counted nothing yet.
  virtual std::vector<ToldFigures> figures(Millis within) = 0;
};

}  // namespace holdfast
