#pragma once

#include <span>

#include "engines/postgres/ready_groups.hpp"
#include "engines/postgres/store.hpp"
#include "tasks/limit_store.hpp"

/// Every claim holds, shared, what who changes limits must have alone. So a limit that is set knows
/// of every claim before it, and every claim after it knows the limit.
#define HOLDFAST_LOCK_OF_LIMITS "(hashtextextended('hf.limits', 0))"

namespace holdfast::postgres {

/// One claim that must heed limits after the other: from here to its commit what is running and
/// what is in the buckets changes only by its own doing, or by ends of tasks.
void queue_turn_of_limited_claim(Connection& db);

/// Two statements, whose results `read_allowance` wants: the limits, and what is running.
void queue_allowance(Connection& db);
/// What may be claimed now of these groups.
Allowance read_allowance(Connection& db, Rows limits, Rows running,
                         std::span<const ReadyGroup> groups);
/// Stores what was taken, and forgets buckets that are full again.
void queue_buckets(Connection& db, const Allowance& allowance);

class PostgresLimitStore final : public LimitStore {
 public:
  explicit PostgresLimitStore(Store& store) : store_{store} {}

  void set(std::span<const Limit> limits) override;
  bool remove(LimitScope scope, const std::string& name) override;
  std::vector<LimitStatus> list() override;

 private:
  Store& store_;
};

}  // namespace holdfast::postgres
