#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include <holdfast/events.hpp>
#include <holdfast/settings.hpp>
#include <holdfast/task.hpp>

#include "recovery/leases.hpp"

namespace holdfast {

struct Inserted {
  TaskId id;
  bool created = true;  ///< false: it was there already (same id, or same unique key)
  TaskState state = TaskState::pending;  ///< of one that was created: pending or blocked
};

/// A task in the hands of a worker.
struct Claimed {
  Lease lease;
  std::string kind;
  std::string queue;
  std::string payload;
  int attempt = 1;
  int max_attempts = 3;
  bool suspect = false;  ///< must run alone in its process
  Backoff backoff{};
  Millis timeout{0};
  WallTime ready_at{};  ///< since when it waited for this claim; 0: not known
  std::string name{};   ///< for events, where it is no task
};

struct ClaimRequest {
  WorkerId worker;
  std::vector<std::string> queues{};  ///< empty: all
  std::vector<std::string> kinds{};
  int limit = 1;
  int max_suspects = 1;  ///< of the limit, so many may be suspects
  Millis lease{90'000};
};

/// The end of an attempt, decided above the stores. `to` is completed, failed, cancelled, held, or
/// pending (retry, snooze, given back). One that is not finished by it, but was asked to stop in
/// the last moment, becomes cancelled instead.
struct Settlement {
  Lease lease;
  TaskState to = TaskState::completed;
  std::string result{};               ///< JSON text
  std::string reason{};               ///< of a failure; of one that is held: the cause
  int attempt = 0;                    ///< charged from now on
  bool was_attempt = true;            ///< false: given back or snoozed; kept if there is a reason
  Millis delay{0};                    ///< for pending
  std::vector<NewTask> follow_ups{};  ///< inserted in the same step; their ids are set
  bool have_new_ids = false;          ///< the follow-ups: made for them, so that none is there yet
  std::string kind{};                 ///< of the task; for events, stores know it
  std::string name{};                 ///< the same, where it is no task
};

enum class Settled {
  accepted,
  repeated,  ///< the very same settlement was accepted before; its reply was lost
  refused,   ///< stale: the token is not the task's any more. Nothing was written.
};

/// Several small things done in one atomic step, so that they cost one commit.
struct Exchange {
  std::vector<Settlement> settle{};
  std::optional<ClaimRequest> claim{};
};

struct Exchanged {
  std::vector<Settled> settled{};  ///< one for each settlement, in order
  std::vector<Claimed> claimed{};
  bool buried = false;  ///< the claiming worker was declared dead: it got nothing
  /// Tasks that could have been claimed but are not what was enqueued: they are held now.
  std::vector<Damage> damaged{};
  /// What else happened: follow-ups that were created, tasks that waited for a settled one, and
  /// settled ones that did not become what was asked because somebody wants them to stop.
  std::vector<TaskChanged> also{};
};

struct ProgressNote {
  double fraction = 0;
  std::string text;
};
struct LogNote {
  std::string line;
  int attempt = 0;
};
/// Written once per task and key; the first value stays.
struct EffectNote {
  std::string key;
  std::string value;
};

/// Something a running attempt wants remembered.
struct Note {
  Lease lease;
  std::variant<ProgressNote, LogNote, EffectNote> what;
};

struct Recorded {
  bool accepted = false;  ///< false: stale, refused
  std::string value{};    ///< of an effect: what is recorded now
};

enum class Wake {
  work,     ///< new work may be there
  control,  ///< an operator acted: look whether running work is to stop
  nothing,  ///< time is up, or interrupted
};

/// The durable queue. Everything is batch-shaped, atomic, and compares tokens; what is to be done
/// is decided by the callers.
class TaskStore : public Leases {
 public:
  /// Inserts all or none; durable when it returns. Tasks with unfinished dependencies become
  /// blocked. Throws `InvalidRequest` for an unknown dependency or an id that exists with another
  /// payload, `StoreFull` where there is no room.
  virtual std::vector<Inserted> insert(std::span<const NewTask> tasks) = 0;

  /// Settles and claims in one step. Claims are ordered by priority, then age.
  virtual Exchanged exchange(const Exchange& exchange) = 0;
  /// Whether two exchanges at the same time, one that settles many and one that claims many, are
  /// quicker than one that does both.
  virtual bool exchanges_side_by_side() const { return false; }

  /// Notes of running attempts, each guarded by its token.
  virtual std::vector<Recorded> record(std::span<const Note> notes) = 0;

  /// When the earliest task that `claim` could take becomes due; nothing if there is none.
  /// A time in the past means: now.
  virtual std::optional<WallTime> next_due(const ClaimRequest& claim) = 0;

  /// Waits until something happens or `timeout` has passed. May return early for no reason.
  virtual Wake wait_for_work(Millis timeout) = 0;
  /// Ends every `wait_for_work` of this process now.
  virtual void interrupt() = 0;
};

}  // namespace holdfast
