#include "engines/postgres/engine.hpp"

#include <utility>

#include "engines/postgres/batch_store.hpp"
#include "engines/postgres/check_integrity.hpp"
#include "engines/postgres/limits.hpp"
#include "engines/postgres/metrics_history.hpp"
#include "engines/postgres/reports.hpp"
#include "engines/postgres/schedules.hpp"
#include "engines/postgres/store.hpp"
#include "engines/postgres/task_admin.hpp"
#include "engines/postgres/task_store.hpp"
#include "engines/postgres/transaction_store.hpp"
#include "engines/postgres/transfer.hpp"
#include "engines/postgres/worker_registry.hpp"

namespace holdfast::postgres {

namespace {

class PostgresEngine final : public EngineParts {
 public:
  PostgresEngine(const Address& address, Settings settings, const Clock& clock)
      : EngineParts{std::move(settings)},
        store_{address, this->settings(), clock, events()},
        tasks_{store_},
        admin_{store_},
        workers_{store_},
        reports_{store_},
        schedules_{store_},
        limits_{store_},
        history_{store_},
        transfer_{store_, admin_},
        transactions_{store_},
        batches_{store_} {}

  TaskStore& tasks() override { return tasks_; }
  TaskAdmin& admin() override { return admin_; }
  WorkerRegistry& workers() override { return workers_; }
  Reports& reports() override { return reports_; }
  ScheduleStore* schedule_store() override { return &schedules_; }
  LimitStore* limit_store() override { return &limits_; }
  MetricsHistory* metrics_history() override { return &history_; }
  TaskTransfer* task_transfer() override { return &transfer_; }
  TransactionStore* transaction_store() override { return &transactions_; }
  BatchStore* batch_store() override { return &batches_; }
  const Clock& clock() const override { return store_.clock; }
  std::string name() const override { return store_.dialect->address().name; }
  RunLevel run_level() const override {
    return store_.why_read_only.empty() ? RunLevel::normal : RunLevel::read_only;
  }
  std::string why_read_only() const override { return store_.why_read_only; }
  std::string durability() const override {
    return store_.syncs ? EngineParts::durability() : "not synced";
  }
  std::string durability_warning() const override {
    if (store_.syncs) return {};
    return "fsync of the server is off: a crash of its machine may lose or damage everything";
  }
  IntegrityResult check_integrity(bool full, std::stop_token stop) override {
    return postgres::check_integrity(store_, full, std::move(stop));
  }
  Store& store() { return store_; }

 private:
  Store store_;
  PostgresTaskStore tasks_;
  PostgresTaskAdmin admin_;
  PostgresWorkerRegistry workers_;
  PostgresReports reports_;
  PostgresScheduleStore schedules_;
  PostgresLimitStore limits_;
  PostgresMetricsHistory history_;
  PostgresTaskTransfer transfer_;
  PostgresTransactionStore transactions_;
  PostgresBatchStore batches_;
};

}  // namespace

std::shared_ptr<EngineParts> open_store(const Address& address, Settings settings,
                                        const Clock& clock) {
  return std::make_shared<PostgresEngine>(address, std::move(settings), clock);
}

Store* find_store(const Engine& engine) {
  auto* parts = dynamic_cast<PostgresEngine*>(&engine.parts());
  return parts ? &parts->store() : nullptr;
}

Store& store_of(const Engine& engine) {
  auto* store = find_store(engine);
  if (!store) throw InvalidRequest{"this engine is not PostgreSQL: " + engine.name()};
  return *store;
}

}  // namespace holdfast::postgres
