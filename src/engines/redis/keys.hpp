#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/ids.hpp>

namespace holdfast::redis {

/// Where things are in the server. Every key begins with the store's prefix in braces, which is the
/// hash tag of Redis Cluster: all keys of a store are in one slot, so that inserting into several
/// queues is all or none and settling, follow-ups and claiming are one step. Stores with different
/// prefixes spread over the nodes of a cluster. Nothing has a time to live: what is in the server
/// is the truth, and `prune` alone removes.
///
///     {p}:tasks           hash: what changes in the plain life of each task, in one text
///     {p}:t:<task>        hash: what is unusual about a task, if anything is (fields below)
///     {p}:p:<task>        its body: most attempts, timeout, backoff, tags (JSON) and payload, with
///                         \x1f between them
///     {p}:h:<task>        list: transitions that cannot be derived from the task itself
///     {p}:log:<task>      list: log lines
///     {p}:e:<task>        hash: effects, the first value stays
///     {p}:waits:<task>    set: tasks that it waits for
///     {p}:after:<task>    set: tasks that wait for it
///
///     {p}:x:<task>        hash: a transaction: s state, y reason, d data (JSON), e error,
///                         f failures; times: b began, n entered its state, p progressed
///     {p}:l:<task>        hash: its ledger, by ordinal, \x1f and series; the first value stays
///     {p}:o:<task>        hash: messages that are yet to be sent, by numbers of {p}:outbox
///     {p}:m:<task>        list: its moves: from, to, token, time, reason, with \x1f between them
///
///     {p}:all             tasks in the order of insertion                  (sorted set, by n)
///     {p}:fresh:<lane>    list: pending tasks of the usual priority that were to run at once when
///                         they were inserted: = and their order, then id and body of each (empty
///                         if it is long or many wait). Some may have left that state
///     {p}:intact          set: lanes in whose list everything still is in that state, and nothing
///                         is unusual
///     {p}:ready:<lane>    other pending tasks that may run now, by priority, then age (sorted set)
///     {p}:alone:<lane>    the same for suspects, which run alone                      (sorted set)
///     {p}:later:<lane>    pending tasks that are not due yet, by time                 (sorted set)
///     {p}:held:<worker>   hash: claims of a worker by their numbers, and how many of their tasks
///                         still run
///     {p}:claim:<worker>:<number>    list: = and the end of the leases, then the tasks claimed
///     {p}:touched         set: claims, <worker>:<number>, in which something unusual has become of
///                         a running task
///     {p}:leases:<worker> hash: tasks whose leases were renewed, and the ends of these
///     {p}:holders         workers with such a hash; before the score none of its leases ends
///                                                                                     (sorted set)
///     {p}:completed       list: completed tasks by their end: = and a time, then those who ended
///                         then
///     {p}:blocked, {p}:on_hold, {p}:done:<state>      the other states               (sorted sets)
///     {p}:lanes:<kind>    set: lanes with pending tasks of a kind; a lane is queue, kind and limit
///                         key (may be empty), with \x1f between them
///     {p}:counts          hash: how many tasks of a lane are in a state other than running
///     {p}:running         hash: how many of a lane are running
///     {p}:unique          hash: unique key, and the unfinished task that has it
///     {p}:paused          hash: paused queues
///     {p}:cascade         list: ends of tasks that not all who wait for them have heard of
///     {p}:seq             the last number of a task
///     {p}:token           the last token that was given out
///     {p}:looked_at       the latest time of the server that a look for orphans has seen
///
///     {p}:limits          hash: limits by place, which is scope, \x1f and name
///     {p}:buckets         hash: token buckets that are not full, by place
///     {p}:buckets_full    places by the time at which their bucket is full again      (sorted set)
///     {p}:schedules       hash: schedules by name
///     {p}:due             names of schedules that are not paused by their next time   (sorted set)
///
///     {p}:w:<worker>      hash: a worker; {p}:workers and {p}:gone list them
///     {p}:metrics:<n>     how the store was in times of n seconds, by time            (sorted set)
///     {p}:report:<id>     hash, with :tasks, :workers and :taken; {p}:reports lists them
///     {p}:totals          hash: what recovery did since the store was made
///     {p}:meta            hash: format, id of the store
///     {p}:move            hash: note about a move to another store, and closed_to, its name
///     {p}:news            channel: `work` and `control` wake who waits
///
/// The text in {p}:tasks has, with \x1f between them: state (number of enum TaskState), + if there
/// is a {p}:t:<task>, token, attempts, order (priority and time of creation), not before (0: at
/// once), worker, claimed at, number of the claim, finished at, result if it is short, lane. Fields
/// of {p}:t:<task>: v recoveries, y crashes, u suspect, x asked to stop, uk unique key, e error, j
/// cause, w result, d others wait for it, gf and gt progress. What has its default is not there.
class Keys {
 public:
  explicit Keys(std::string_view prefix) : tag_{"{" + std::string{prefix} + "}"} {}

  /// What scripts are given as their key.
  const std::string& tag() const { return tag_; }
  std::string key(std::string_view name) const { return tag_ + ":" + std::string{name}; }
  std::string worker(WorkerId id) const { return key("w:" + id.text()); }
  std::string report(ReportId id) const { return key("report:" + id.text()); }
  std::string news() const { return key("news"); }

 private:
  std::string tag_;
};

/// The order of a task, and the score of one that is ready, is its priority times this and the time
/// since when it waits.
inline constexpr std::int64_t one_priority = std::int64_t{1} << 43;

/// Between the parts of what is kept as one text. Names of queues and kinds cannot contain it.
inline constexpr char separator = '\x1f';

}  // namespace holdfast::redis
