#include <fmt/format.h>

#include <atomic>
#include <cstdlib>

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
#include "engines/redis/engine.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

/// A store of its own in a server that is shared by all tests of this program.
class RedisUnderTest final : public EngineUnderTest {
 public:
  explicit RedisUnderTest(const std::string& server)
      : address_{fmt::format("{}?prefix=test-{}", server, ++stores_)} {
    ::setenv("XDG_RUNTIME_DIR", folder_.folder().c_str(), 1);
  }

  /// Whatever the test did, indexes and tasks fit to each other.
  ~RedisUnderTest() override {
    auto found = redis::open_store(address_, {})->check_integrity(true, {});
    for (const auto& damage : found.damage) ADD_FAILURE() << damage.what;
  }

  std::shared_ptr<EngineParts> open(const Settings& settings, const Clock& clock) override {
    return redis::open_store(address_, settings, &clock);
  }

 private:
  inline static std::atomic<int> stores_{0};
  TempStore folder_;
  std::string address_;
};

const EngineCase cases[] = {
#ifdef HOLDFAST_REDIS_CLUSTER
    {"RedisCluster",
     [] { return std::make_unique<RedisUnderTest>(shared_redis_cluster().address()); }},
#else
    {"Redis", [] { return std::make_unique<RedisUnderTest>(shared_redis().address()); }},
#endif
};

INSTANTIATE_TEST_SUITE_P(Contract, ExpiryContract, testing::ValuesIn(cases), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, LeasesContract, testing::ValuesIn(cases), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, ServerClockContract, testing::ValuesIn(cases), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, LedgerContract, testing::ValuesIn(cases), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, LimitStoreContract, testing::ValuesIn(cases), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, MetricsHistoryContract, testing::ValuesIn(cases), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, RecoveryContract, testing::ValuesIn(cases), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, ReportsContract, testing::ValuesIn(cases), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, ScheduleStoreContract, testing::ValuesIn(cases), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, TaskAdminContract, testing::ValuesIn(cases), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, TaskStoreContract, testing::ValuesIn(cases), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, TransactionStoreContract, testing::ValuesIn(cases), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, TransferContract, testing::ValuesIn(cases), case_name);
INSTANTIATE_TEST_SUITE_P(Contract, WorkerRegistryContract, testing::ValuesIn(cases), case_name);

}  // namespace
}  // namespace holdfast::test
