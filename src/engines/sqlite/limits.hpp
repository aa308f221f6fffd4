#pragma once

#include <optional>

#include "engines/sqlite/store.hpp"
#include "tasks/allowance.hpp"
#include "tasks/limit_store.hpp"

namespace holdfast::sqlite {

/// Whether any limit is set. All that a claim pays for limits where there are none.
bool any_limits(Connection& db);
/// What may be claimed now; nothing where no limit is set. To be used in the transaction (or the
/// read) that it was read in.
std::optional<Allowance> read_allowance(Connection& db, WallTime now);
/// Stores what was taken, and forgets buckets that are full again.
void write_buckets(Connection& db, const Allowance& allowance, WallTime now);

class SqliteLimitStore final : public LimitStore {
 public:
  explicit SqliteLimitStore(Store& store) : store_{store} {}

  void set(std::span<const Limit> limits) override;
  bool remove(LimitScope scope, const std::string& name) override;
  std::vector<LimitStatus> list() override;

 private:
  Store& store_;
};

}  // namespace holdfast::sqlite
