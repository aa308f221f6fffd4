#include "contract/batch_store_contract.hpp"
#include "contract/batches_contract.hpp"
#include "contract/expiry_contract.hpp"
#include "contract/leases_contract.hpp"
#include "contract/ledger_contract.hpp"
#include "contract/limit_store_contract.hpp"
#include "contract/metrics_history_contract.hpp"
#include "contract/recovery_contract.hpp"
#include "contract/reports_contract.hpp"
#include "contract/schedule_store_contract.hpp"
#include "contract/task_admin_contract.hpp"
#include "contract/task_store_contract.hpp"
#include "contract/transaction_store_contract.hpp"
#include "contract/transfer_contract.hpp"
#include "contract/worker_registry_contract.hpp"
#include "engines/sqlite/engine.hpp"
#include "engines/sqlite/row_sum.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

class SqliteUnderTest final : public EngineUnderTest {
 public:
  /// Whatever the test did, every row that it left has the checksum that fits.
  ~SqliteUnderTest() override {
    sqlite::Connection db{store_.database(), sqlite::Connection::Mode::read_only, {}};
    sqlite::find_damaged_rows(db, [](const sqlite::DamagedRow& row) { ADD_FAILURE() << row.what; });
    auto transactions = db.use("SELECT task, sum FROM holdfast_transactions");
    while (transactions.step()) {
      EXPECT_NE(transactions.integer(1), 0);
      EXPECT_TRUE(sqlite::transaction_fits(db, transactions.integer(0)));
    }
  }

  std::shared_ptr<EngineParts> open(const Settings& settings, const Clock& clock) override {
    return sqlite::open_store(store_.database(), settings, clock);
  }

 private:
  TempStore store_;
};

const EngineCase sqlite_case{"Sqlite", [] { return std::make_unique<SqliteUnderTest>(); }};

INSTANTIATE_TEST_SUITE_P(Contract, BatchStoreContract, testing::Values(sqlite_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, BatchesContract, testing::Values(sqlite_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, ExpiryContract, testing::Values(sqlite_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, LeasesContract, testing::Values(sqlite_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, SteadyClockContract, testing::Values(sqlite_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, LedgerContract, testing::Values(sqlite_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, LimitStoreContract, testing::Values(sqlite_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, MetricsHistoryContract, testing::Values(sqlite_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, RecoveryContract, testing::Values(sqlite_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, ReportsContract, testing::Values(sqlite_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, ScheduleStoreContract, testing::Values(sqlite_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, TaskAdminContract, testing::Values(sqlite_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, TaskStoreContract, testing::Values(sqlite_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, TransactionStoreContract, testing::Values(sqlite_case),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Contract, TransferContract, testing::Values(sqlite_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, WorkerRegistryContract, testing::Values(sqlite_case), case_name);

}  // namespace
}  // namespace holdfast::test
