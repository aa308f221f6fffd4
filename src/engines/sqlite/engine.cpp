#include "engines/sqlite/engine.hpp"

#include <filesystem>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <holdfast/sqlite.hpp>

#include "engines/sqlite/batch_store.hpp"
#include "engines/sqlite/broker.hpp"
#include "engines/sqlite/check_integrity.hpp"
#include "engines/sqlite/limits.hpp"
#include "engines/sqlite/metrics_history.hpp"
#include "engines/sqlite/open_read_only.hpp"
#include "engines/sqlite/reports.hpp"
#include "engines/sqlite/schedules.hpp"
#include "engines/sqlite/scrub.hpp"
#include "engines/sqlite/statements.hpp"
#include "engines/sqlite/store.hpp"
#include "engines/sqlite/store_path.hpp"
#include "engines/sqlite/task_admin.hpp"
#include "engines/sqlite/task_store.hpp"
#include "engines/sqlite/transaction_store.hpp"
#include "engines/sqlite/transfer.hpp"
#include "engines/sqlite/worker_registry.hpp"
#include "recovery/roster.hpp"

namespace holdfast::sqlite {

namespace {

class SqliteEngine final : public EngineParts {
 public:
  SqliteEngine(const std::string& path, Settings settings, const Clock& clock, Stay stay,
               Opened opened)
      : EngineParts{std::move(settings)},
        start_up_{std::move(opened.start_up)},
        trouble_{std::move(opened.trouble)},
        store_{path, std::move(opened), this->settings(), stay, clock, events()},
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
  std::string name() const override { return "sqlite:" + store_.path; }
  std::string name_everywhere() const override {
    return fmt::format("{}@{}", std::filesystem::absolute(store_.path).string(), host_name());
  }
  std::shared_ptr<Broker> own_broker(const Engine& engine) override {
    return std::make_shared<SqliteBroker>(engine);
  }
  RunLevel run_level() const override { return store_.level; }
  std::string why_read_only() const override { return store_.why_read_only; }
  std::optional<StartUp> standing_trouble() const override { return trouble_; }
  std::optional<StartUp> take_start_up() override;
  std::optional<StartUp> start_up() override {
    std::lock_guard lock{start_up_taken_};
    return start_up_;
  }
  IntegrityResult check_integrity(bool full, std::stop_token stop) override;
  std::optional<IntegrityResult> scrub() override { return scrub_.step(); }
  Store& store() { return store_; }

  /// Puts what the start-up found where it is not forgotten if this process does not recover.
  void report_start_up() {
    RecoveryReport report;
    report.started_at = start_up_->began;
    report.completed_at = store_.clock.wall();
    report.duration = start_up_->duration;
    report.trigger = "start-up";
    report.action = settings().recovery.action;
    report.start_up = start_up_;
    ReportHead head{ReportId::make(), report.started_at, report.trigger, report.action};
    reports_.complete(head, report);
    start_up_->report = head.id;
  }

 private:
  std::mutex start_up_taken_;
  std::optional<StartUp> start_up_;
  std::optional<StartUp> trouble_;
  Store store_;
  SqliteTaskStore tasks_;
  SqliteTaskAdmin admin_;
  SqliteWorkerRegistry workers_;
  SqliteReports reports_;
  SqliteScheduleStore schedules_;
  SqliteLimitStore limits_;
  SqliteMetricsHistory history_;
  SqliteTaskTransfer transfer_;
  SqliteTransactionStore transactions_;
  SqliteBatchStore batches_;
  Scrub scrub_{store_};
};

std::optional<StartUp> SqliteEngine::take_start_up() {
  std::lock_guard lock{start_up_taken_};
  store_.keep_mark = false;
  auto found = std::exchange(start_up_, {});
  if (!found) return found;
  if (!found->evidence.empty()) events().emit(StoreRepaired{*found});
  if (auto others = open_to_others(store_.path)) events().emit(StoreWarning{*others});
  if (!found->checkpoint_error.empty())
    events().emit(
        StoreTrouble{"emptying the write-ahead log at the start", found->checkpoint_error});
  return found;
}

IntegrityResult SqliteEngine::check_integrity(bool full, std::stop_token stop) {
  auto db = open_read_only(store_.path, settings().durability);
  return sqlite::check_integrity(*db, {.full = full, .within = {}, .stop = std::move(stop)});
}

}  // namespace

std::shared_ptr<EngineParts> open_store(const std::string& file, Settings settings,
                                        const Clock& clock, const OpenOptions& options) {
  const auto path = real_database(file);
  auto opened = open_database(path, settings, clock, options);
  if (options.found) *options.found = opened.start_up;
  bool worth_reporting = opened.worth_reporting && opened.level == RunLevel::normal;
  auto engine = std::make_shared<SqliteEngine>(path, std::move(settings), clock, options.stay,
                                               std::move(opened));
  if (worth_reporting) engine->report_start_up();
  return engine;
}

Store& store_of(const Engine& engine) {
  auto* parts = dynamic_cast<SqliteEngine*>(&engine.parts());
  if (!parts) throw InvalidRequest{"this engine is not SQLite: " + engine.name()};
  return parts->store();
}

}  // namespace holdfast::sqlite
