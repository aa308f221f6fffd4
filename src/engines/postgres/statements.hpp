#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engines/postgres/connection.hpp"
#include "engines/postgres/ready_groups.hpp"
#include "engines/postgres/task_change.hpp"
#include "tasks/allowance.hpp"
#include "tasks/task_store.hpp"

/// What every write of a worker must meet: the task is still claimed, and by this very claim. `t`
/// is the task, `s` what the worker says. The build without it exists to prove that the tests can
/// see what it prevents.
#ifdef HOLDFAST_ABLATE_TOKEN_GUARD
#define HOLDFAST_TOKEN_GUARD " t.id = s.id AND s.token > 0 "
#else
#define HOLDFAST_TOKEN_GUARD " t.id = s.id AND t.token = s.token AND t.state + 0 = {running} "
#endif

/// The steps of the store, each inside a transaction that the caller has begun.
namespace holdfast::postgres {

enum class InsertAs {
  new_work,   ///< refused with `StoreMoved` if the store is closed
  follow_up,  ///< what running tasks ask for is inserted even then
};
std::vector<Inserted> insert_tasks(Connection& db, std::span<const NewTask> tasks,
                                   InsertAs as = InsertAs::new_work);

/// Removes tasks with all that belongs to them; returns how many.
std::int64_t remove_tasks(Connection& db, const std::vector<TaskId>& ids);

/// Room for tasks in a claim.
struct Room {
  int tasks = 0;
  int suspects = 0;  ///< of these
};

/// A claim. `queue_look` may go to the server together with what comes before it in the same step;
/// if something was made ready after that, look again.
class Claiming {
 public:
  explicit Claiming(const ClaimRequest& request) : request_{request} {}
  /// Two statements: whether the worker is alive (and stays so until the commit), and the groups.
  void queue_look(Connection& db) const;
  static constexpr std::size_t look_results = 2;
  void take(Connection& db, Rows alive, Rows groups, Exchanged& into);

 private:
  struct Stream;
  std::vector<ReadyGroup> look_within_limits(Connection& db);
  void take_of_priority(Connection& db, std::span<const ReadyGroup> groups, Room& room,
                        Exchanged& into);
  void share_out(Connection& db, std::vector<Stream>& streams, Room room);
  void queue_stream(Connection& db, const Stream& stream) const;

  const ClaimRequest& request_;
  std::optional<Allowance> limits_{};  ///< nothing: no limit is about what may be claimed
};
std::optional<WallTime> earliest_due(Connection& db, const ClaimRequest& request);

/// The end of attempts. Plain ends are written at once; what needs a decision is read and locked
/// first.
class Settling {
 public:
  explicit Settling(std::span<const Settlement> settlements);
  void queue(Connection& db) const;  ///< `results()` statements
  std::size_t results() const;
  /// The rest, for the results of those statements: decisions, what was not accepted, follow-ups,
  /// and tasks that waited.
  void finish(Connection& db, std::span<Rows> results);
  /// Whether more is written by `finish` than by `queue`.
  bool decides() const { return !others_.empty(); }

  std::vector<Settled> settled{};
  bool woke_others = false;         ///< some tasks are ready now that were not
  bool made_ready_later = false;    ///< some of them after the statements of `queue`
  std::vector<TaskChanged> also{};  ///< see `Exchanged`

 private:
  void queue_plain(Connection& db) const;
  void queue_look(Connection& db) const;
  void take_plain(Connection& db, Rows& rows);
  void decide(Connection& db, Rows& rows);
  void end_dependents_of(Connection& db, Rows& blocked);
  void accept(std::size_t place, TaskState now, WallTime at);
  void tell_the_others(Connection& db);
  void insert_follow_ups(Connection& db);

  std::span<const Settlement> settlements_;
  std::vector<std::size_t> plain_{}, others_{};  ///< places
  std::vector<EndedTask> ended_{};
  std::vector<NewTask> follow_ups_{};
  WallTime now_{};
};

void count_refused(Connection& db, std::int64_t refused);

std::vector<Recorded> record_notes(Connection& db, std::span<const Note> notes);

}  // namespace holdfast::postgres
