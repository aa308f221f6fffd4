#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <holdfast/report.hpp>
#include <holdfast/task.hpp>

#include "recovery/report_head.hpp"

namespace holdfast {

class HostFiles;

/// What a worker holds: the work and the number of its claim.
struct Lease {
  TaskId id;
  Token token;
  /// Where the store found it, to find it again without searching; 0: not known. Safe to lose, and
  /// nobody's business but the store's.
  std::int64_t place = 0;

  auto operator<=>(const Lease& other) const {
    return std::tie(id, token) <=> std::tie(other.id, other.token);
  }
  bool operator==(const Lease& other) const { return id == other.id && token == other.token; }
};

enum class Renewal {
  kept,       ///< the lease is extended
  cancelled,  ///< extended, and somebody wants the work to stop
  lost,       ///< no longer ours: another token, another state, or gone
};

/// Claimed work whose worker is buried, or whose lease is past its time.
struct Orphan {
  Lease lease;
  WorkerId worker;
  bool expired = false;   ///< by age; false: its worker is known to be dead
  Millis lease_until{0};  ///< as the store has it, on the clock of its leases
  /// The lease ends later than the clock that wrote it could have said: that was set back.
  bool ahead = false;
  int attempt = 0;  ///< charged so far, this one included
  int max_attempts = 0;
  int crashes = 0;
  int recoveries = 0;
  bool cancel_requested = false;
  bool suspect = false;  ///< since a crash before this one
  std::string kind{};    ///< for events
  std::string name{};    ///< the same, where it is no task
  Backoff backoff{};
};

/// What is to become of an orphan. Decided above the stores, applied by them.
struct Verdict {
  Lease lease;
  bool expired = false;           ///< reclaim only if the lease still is past its time
  Millis lease_until{0};          ///< and still ends when it ended for who decided
  bool cancel_requested = false;  ///< as the orphan had it; if not any more, decide again
  TaskState to = TaskState::pending;
  int attempt = 0;
  int crashes = 0;
  bool suspect = false;  ///< must run alone next time
  Millis delay{0};       ///< before it may run again
  std::string reason;
  std::string cause;  ///< for held
};

/// Time-limited ownership of work. Tasks, batches and transactions all implement this, so recovery
/// is one function. Every method is atomic for each lease named, compares the token, and decides
/// nothing.
class Leases {
 public:
  virtual ~Leases() = default;

  /// Extends leases by `length` from the store's now. One answer for each, in order. A lease past
  /// its time that nobody took may still be renewed: the same token means nobody else had it.
  virtual std::vector<Renewal> renew(std::span<const Lease> leases, Millis length) = 0;

  /// Up to `limit` orphans, in any order. Those `as_if_buried` are taken for buried workers, for
  /// those who only want to know. A child process that outlived its worker may still be at work on
  /// one: see `host_files`.
  virtual std::vector<Orphan> orphans(int limit, std::span<const WorkerId> as_if_buried) = 0;
  std::vector<Orphan> orphans(int limit) { return orphans(limit, {}); }

  /// Takes work back: raises the token, applies the verdict and adds it to the report, in one step
  /// that also checks that the token is unchanged, that the worker is still buried or the lease
  /// still expired and not renewed since, and that nobody has asked the work to stop since.
  /// One answer for each, in order: false if that no longer held, and nothing was done.
  virtual std::vector<bool> reclaim(std::span<const Verdict> verdicts,
                                    const ReportHead& report) = 0;

  /// Whether leases end by a clock that somebody may set, so that all of them may seem to be past
  /// their time at once.
  virtual bool clock_may_be_set() const { return false; }

  /// Where the locks of child processes on this host are, by which recovery finds and ends those of
  /// orphans before it takes them back. Not before it believes that they are orphans: what a clock
  /// calls past its time may be a living worker's. Null: there are none.
  virtual const HostFiles* host_files() const { return nullptr; }
};

}  // namespace holdfast
