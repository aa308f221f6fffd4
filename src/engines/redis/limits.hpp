#pragma once

#include "engines/redis/store.hpp"
#include "tasks/limit_store.hpp"

namespace holdfast::redis {

/// Keeps limits. `lua/allowance.lua` is where they are enforced.
class RedisLimitStore final : public LimitStore {
 public:
  explicit RedisLimitStore(Store& store) : store_{store} {}

  void set(std::span<const Limit> limits) override;
  bool remove(LimitScope scope, const std::string& name) override;
  std::vector<LimitStatus> list() override;

 private:
  Store& store_;
};

}  // namespace holdfast::redis
