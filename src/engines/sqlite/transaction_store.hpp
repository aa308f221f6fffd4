#pragma once

#include "engines/sqlite/store.hpp"
#include "transactions/transaction_store.hpp"

namespace holdfast::sqlite {

class SqliteTransactionStore final : public TransactionStore {
 public:
  explicit SqliteTransactionStore(Store& store) : store_{store} {}

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
  Store& store_;
};

}  // namespace holdfast::sqlite
