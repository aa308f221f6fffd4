#include "engines/redis/engine.hpp"

#include <fmt/format.h>

#include "engines/redis/check_integrity.hpp"
#include "engines/redis/durability.hpp"
#include "engines/redis/limits.hpp"
#include "engines/redis/metrics_history.hpp"
#include "engines/redis/reports.hpp"
#include "engines/redis/schedules.hpp"
#include "engines/redis/store.hpp"
#include "engines/redis/task_admin.hpp"
#include "engines/redis/task_store.hpp"
#include "engines/redis/transaction_store.hpp"
#include "engines/redis/transfer.hpp"
#include "engines/redis/worker_registry.hpp"

namespace holdfast::redis {

namespace {

constexpr std::int64_t format = 4;

void expect_known(const Server& server, std::int64_t found) {
  if (found > format)
    throw StoreUnusable{
        fmt::format("the store in {} is of a newer version ({}; this one knows "
                    "{}); use a newer Holdfast",
                    server.address().name(), found, format)};
  if (found < format)
    throw StoreUnusable{
        fmt::format("the store in {} is of an older version ({}; this one knows {}) and is not "
                    "converted; work it off with the Holdfast that made it, or use another prefix",
                    server.address().name(), found, format)};
}

class RedisEngine final : public EngineParts {
 public:
  RedisEngine(Address address, Settings settings, const Clock* test_clock)
      : EngineParts{std::move(settings)}, store_{std::move(address), test_clock, events()} {
    persistence_ = look_at_persistence(store_.server);
  }

  TaskStore& tasks() override { return tasks_; }
  TaskAdmin& admin() override { return admin_; }
  WorkerRegistry& workers() override { return workers_; }
  Reports& reports() override { return reports_; }
  ScheduleStore* schedule_store() override { return &schedules_; }
  LimitStore* limit_store() override { return &limits_; }
  MetricsHistory* metrics_history() override { return &history_; }
  TaskTransfer* task_transfer() override { return &transfer_; }
  TransactionStore* transaction_store() override { return &transactions_; }
  const Clock& clock() const override { return store_.clock(); }
  std::string name() const override { return store_.server.address().name(); }
  std::string durability() const override { return persistence_.mode; }
  std::string durability_warning() const override { return persistence_.warning; }
  IntegrityResult check_integrity(bool full, std::stop_token stop) override {
    return redis::check_integrity(store_, full, std::move(stop));
  }

 private:
  Store store_;
  Persistence persistence_;
  RedisTaskStore tasks_{store_};
  RedisTaskAdmin admin_{store_};
  RedisWorkerRegistry workers_{store_};
  RedisReports reports_{store_};
  RedisScheduleStore schedules_{store_};
  RedisLimitStore limits_{store_};
  RedisMetricsHistory history_{store_};
  RedisTaskTransfer transfer_{store_};
  RedisTransactionStore transactions_{store_};
};

}  // namespace

Store::Store(Address address, const Clock* clock_of_test, const Events& event_sink)
    : server{std::move(address)},
      keys{server.address().prefix},
      events{event_sink},
      test_clock{clock_of_test},
      news{server, keys.news()} {
  // Who only looks at a name that nobody uses must not leave a store there.
  find_files(server.call({"HMGET", keys.key("meta"), "format", "store"}));
  auto time = server.call({"TIME"});
  server_clock.set(wall_time(time[0].number() * 1'000 + time[1].number() / 1'000));
}

bool Store::find_files(const Value& names) {
  if (names[0].is_nil() || names[1].is_nil()) return false;
  expect_known(server, names[0].number());
  files_ = std::make_unique<HostFiles>(host_files_of("redis-" + names[1].string()));
  made_ = true;
  return true;
}

void Store::make() {
  if (made_) return;
  std::lock_guard lock{making_};
  if (made_) return;
  auto meta = keys.key("meta");
  std::array commands{Command{"HSETNX", meta, "format", std::to_string(format)},
                      Command{"HSETNX", meta, "store", ReportId::make().text()},
                      Command{"HMGET", meta, "format", "store"}};
  find_files(server.call_all(commands)[2]);
}

const HostFiles& Store::files() {
  make();
  return *files_;
}

Arguments Store::arguments() const {
  Arguments arguments{keys.tag()};
  if (test_clock)
    arguments.add(test_clock->wall()).add(test_clock->steady());
  else
    arguments.add(std::string{}).add(std::string{});
  return arguments;
}

Reply Store::run(const KillPoints& points, const Script& script, const Arguments& arguments) {
  make();
  kill_point(points.before);
  auto reply = server.run(script, arguments.encoded());
  kill_point(points.after);
  return reply;
}

bool is_address(std::string_view address) { return Address::is_one(address); }

bool holds_store(std::string_view address) {
  Server server{Address::parse(address)};
  Keys keys{server.address().prefix};
  // A worker that goes on after somebody emptied the server brings only what it needs.
  return server.call({"EXISTS", keys.key("meta"), keys.key("seq")}).number() > 0;
}

std::shared_ptr<EngineParts> open_store(std::string_view address, Settings settings,
                                        const Clock* test_clock) {
  settings.validate();
  return std::make_shared<RedisEngine>(Address::parse(address), std::move(settings), test_clock);
}

}  // namespace holdfast::redis
