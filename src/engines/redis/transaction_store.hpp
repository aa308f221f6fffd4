#pragma once

#include "engines/redis/store.hpp"
#include "transactions/transaction_store.hpp"

namespace holdfast::redis {

class RedisTransactionStore final : public TransactionStore {
 public:
  explicit RedisTransactionStore(Store& store) : store_{store} {}

  using TransactionStore::step;
  std::vector<Stepped> step(std::span<const Step> steps) override;
  std::vector<std::optional<TransactionRow>> find(std::span<const TaskId> ids) override;
  std::optional<std::string> recorded(TaskId id, const std::string& series,
                                      std::int64_t ordinal) override;
  using TransactionStore::ledger;
  std::vector<LedgerEntry> ledger(TaskId id, Stretch stretch) override;
  std::vector<OutboxEntry> outbox(TaskId id) override;
  using TransactionStore::moves;
  std::vector<StateMove> moves(TaskId id, Stretch stretch) override;
  std::int64_t move_count(TaskId id) override;
  bool put_back(TaskId id, Step step) override;
  void adopt(std::span<const TransactionParcel> parcels) override;

 private:
  std::string key(std::string_view kind, TaskId id) const {
    return store_.keys.key(std::string{kind} + id.text());
  }

  Store& store_;
};

}  // namespace holdfast::redis
