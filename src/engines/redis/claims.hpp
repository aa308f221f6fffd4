#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tasks/task_store.hpp"

namespace holdfast::redis {

/// A record that tasks of one claim were given.
using Record = std::shared_ptr<const std::string>;

/// What this process knows of its claims. A settlement says which record its task was given and how
/// many tasks of its claim still run; where the server counts as many, nobody else has changed one
/// of them, and it need not read their records.
class Claims {
 public:
  struct Known {
    Record record;  ///< null: nothing is known
    std::int64_t left = 0;
  };

  void took(Token token, const Record& record, std::span<const Claimed> tasks);
  /// Once for each task: who settles it a second time knows nothing.
  Known take(const Lease& lease);
  /// With each what the server answered.
  void settled(std::span<const Settlement> sent, std::span<const Settled> answers);
  /// Whether they were settled is not known.
  void unanswered(std::span<const Settlement> sent);

 private:
  struct Claim {
    std::int64_t left = 0;
    std::unordered_map<TaskId, Record> records;
  };

  std::mutex mutex_;
  std::map<Token, Claim> claims_;
};

}  // namespace holdfast::redis
