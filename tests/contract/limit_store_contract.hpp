#pragma once

#include "contract/store_under_test.hpp"
#include "tasks/limit_store.hpp"

namespace holdfast::test {

/// What `LimitStore` promises, and what `TaskStore` does because of it.
class LimitStoreContract : public StoreContract {
 protected:
  void set(const Limit& limit) { engine().limits().set(std::span{&limit, 1}); }
  void most(LimitScope scope, const std::string& name, int running) {
    set({.scope = scope, .name = name, .max_running = running});
  }
  void insert_many(const std::string& kind, int count, const TaskOptions& options = {}) {
    tasks().insert(
        std::vector<NewTask>(static_cast<std::size_t>(count), NewTask{kind, "{}", options}));
  }
  std::size_t claims(WorkerId worker, int limit = 100) { return claim(worker, limit).size(); }
  LimitStatus status(LimitScope scope, const std::string& name);
};

}  // namespace holdfast::test
