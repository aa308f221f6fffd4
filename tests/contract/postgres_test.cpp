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
#include "engines/postgres/engine.hpp"
#include "support/postgres_server.hpp"

namespace holdfast::test {
namespace {

class PostgresUnderTest final : public EngineUnderTest {
 public:
  std::shared_ptr<EngineParts> open(const Settings& settings, const Clock& clock) override {
    auto own = settings;
    auto address = postgres::parse_address(address_, own);
    return postgres::open_store(address, own, clock);
  }

 private:
  std::string address_ = PostgresServer::shared().new_store();
};

const EngineCase postgres_case{"Postgres", [] { return std::make_unique<PostgresUnderTest>(); }};

INSTANTIATE_TEST_SUITE_P(Contract, BatchStoreContract, testing::Values(postgres_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, BatchesContract, testing::Values(postgres_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, ExpiryContract, testing::Values(postgres_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, LeasesContract, testing::Values(postgres_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, ServerClockContract, testing::Values(postgres_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, LedgerContract, testing::Values(postgres_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, LimitStoreContract, testing::Values(postgres_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, MetricsHistoryContract, testing::Values(postgres_case),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Contract, RecoveryContract, testing::Values(postgres_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, ReportsContract, testing::Values(postgres_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, ScheduleStoreContract, testing::Values(postgres_case),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Contract, TaskAdminContract, testing::Values(postgres_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, TaskStoreContract, testing::Values(postgres_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, TransactionStoreContract, testing::Values(postgres_case),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Contract, TransferContract, testing::Values(postgres_case), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, WorkerRegistryContract, testing::Values(postgres_case),
                         case_name);

}  // namespace
}  // namespace holdfast::test
