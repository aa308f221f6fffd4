#pragma once

#include <map>
#include <mutex>

#include "engines/redis/claims.hpp"
#include "engines/redis/dependents.hpp"
#include "engines/redis/store.hpp"
#include "engines/redis/task_change.hpp"
#include "tasks/task_store.hpp"

namespace holdfast::redis {

/// What becomes of a task by a settlement other than a plain end.
struct Decided {
  std::string kind;
  TaskChange change;
};

/// Settlements and their follow-ups in the order in which they are sent.
struct Sent {
  struct FollowUp {
    std::size_t of;  ///< place of the settlement in the exchange
    const NewTask* task;
  };
  std::vector<std::size_t> order{};  ///< places of settlements in the exchange
  std::vector<FollowUp> follow_ups{};
  std::map<std::size_t, Decided> decided{};  ///< by place in the exchange
  /// Places of those whose task has changed since they were decided.
  std::vector<std::size_t> again{};
  /// Of the claim, and of earlier ones whose tasks come with its answer.
  std::vector<std::string> claim_numbers{};
  Dependents dependents{};
};

class RedisTaskStore final : public TaskStore {
 public:
  explicit RedisTaskStore(Store& store) : store_{store} {}

  std::vector<Renewal> renew(std::span<const Lease> leases, Millis length) override;
  std::vector<Orphan> orphans(int limit, std::span<const WorkerId> as_if_buried) override;
  const HostFiles* host_files() const override { return &store_.files(); }
  std::vector<bool> reclaim(std::span<const Verdict> verdicts, const ReportHead& report) override;
  bool clock_may_be_set() const override { return !store_.test_clock; }

  std::vector<Inserted> insert(std::span<const NewTask> tasks) override;
  Exchanged exchange(const Exchange& exchange) override;
  /// The server does one after the other, but what one of them has to write and to read here is
  /// done while the server works on the other.
  bool exchanges_side_by_side() const override { return true; }
  std::vector<Recorded> record(std::span<const Note> notes) override;
  std::optional<WallTime> next_due(const ClaimRequest& claim) override;
  Wake wait_for_work(Millis timeout) override { return store_.news.wait(timeout); }
  void interrupt() override { store_.news.interrupt(); }

 private:
  Exchanged exchange_once(const Exchange& exchange, Sent& sent);
  Exchanged send(const Exchange& exchange, Arguments& arguments, Sent& sent);
  /// Until none of those at these places has changed since it was decided.
  void settle_again(const Exchange& exchange, Sent& sent, Exchanged& exchanged);
  /// Runs or cancels what waited, and claims of that as much as there is room for.
  void end_dependents_of(const Exchange& exchange, Sent& sent, Exchanged& exchanged);
  void remember_unanswered(WorkerId worker, const std::vector<std::string>& numbers);
  std::vector<bool> reclaim_some(std::span<const Verdict> verdicts, const ReportHead& report);

  Store& store_;
  Claims claims_;

  // Every claim has a number. Of those whose answer was lost with the connection, the next exchange
  // of the same worker asks what they took: otherwise nobody would run it until the lease ends.
  std::mutex mutex_;
  std::int64_t last_number_ = 0;
  std::map<WorkerId, std::vector<std::string>> unanswered_;
};

/// What is wrong with a new task, if a script said so instead of `ok`.
void expect_valid(const Value& answer, std::string_view store);
/// What became of tasks, after what a script says of those that are not simply new and pending.
std::vector<Inserted> read_inserted(std::span<const TaskId> ids, const Value& others);

}  // namespace holdfast::redis
