#include "support/server_clock.hpp"

#include <gmock/gmock.h>

#include <map>
#include <mutex>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "support/postgres_server.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::HasSubstr;

constexpr std::chrono::seconds hour = 1h, day = 24h;
/// Two heartbeats fit into the time that a worker is waited for, even on a busy machine.
constexpr auto heartbeat = 2s;
constexpr auto lease = 3 * heartbeat;
constexpr auto detection = 1s;
/// What docs/operations.md promises for a worker that is dead without proof, and a busy machine.
constexpr auto recovered_within = lease + detection + 2 * heartbeat + 20s;

/// A server and the store on it.
class ClockedStore {
 public:
  virtual ~ClockedStore() = default;
  virtual std::string address() = 0;
  virtual void set_clock(std::chrono::seconds ahead) = 0;
  /// Whether a process that stands still is not in the middle of a step, which would keep rows
  /// locked.
  virtual bool is_quiet() { return true; }
};

class OnPostgres final : public ClockedStore {
 public:
  std::string address() override { return address_; }
  void set_clock(std::chrono::seconds ahead) override { server_.set_clock(ahead); }
  bool is_quiet() override {
    return eventually(
        [&] {
          return server_.ask(
                     "SELECT count(*) FROM pg_stat_activity WHERE xact_start IS NOT NULL"
                     " AND pid <> pg_backend_pid() AND backend_type = 'client backend'") == "0";
        },
        1s);
  }

 private:
  PostgresServer server_{
      PostgresServer::Options{.addresses = {}, .settings = {}, .own_clock = true}};
  std::string address_ = server_.new_store();
};

class OnRedis final : public ClockedStore {
 public:
  std::string address() override { return server_.address(); }
  void set_clock(std::chrono::seconds ahead) override { server_.set_clock(ahead); }

 private:
  RedisServer server_{RedisServer::Options{.own_clock = true}};
};

struct Case {
  std::string name;
  std::function<std::unique_ptr<ClockedStore>()> make;
};
std::string name_of(const testing::TestParamInfo<Case>& info) { return info.param.name; }

Settings brisk() {
  Settings settings;
  settings.heartbeat.interval = heartbeat;
  settings.heartbeat.stale_threshold_multiplier = lease / heartbeat;
  settings.heartbeat.detection_interval = detection;
  return settings;
}

/// A worker that lives, and renews what it has until it may end it.
class LivingWorker {
 public:
  explicit LivingWorker(const std::string& address) : engine_{open(address, brisk())} {
    engine_.events().subscribe([this](const Event& event) {
      std::lock_guard lock{mutex_};
      if (std::holds_alternative<MassExpiry>(event)) alarms_.push_back(to_text(event));
    });
    metrics_ = count_events(engine_);
    tasks_.on_json("long", [this](Attempt& attempt) {
      {
        std::lock_guard lock{mutex_};
        ++runs_[attempt.task()];
      }
      eventually([&] { return released_ || attempt.stop_requested(); }, 10min);
      return done;
    });
    worker_.emplace(tasks_, WorkerOptions{.concurrency = 2});
    working_ = std::jthread{[this] { worker_->run(); }};
  }
  ~LivingWorker() {
    released_ = true;
    worker_->hurry();
  }

  void release() { released_ = true; }
  std::map<TaskId, int> runs() const {
    std::lock_guard lock{mutex_};
    return runs_;
  }
  std::vector<std::string> alarms() const {
    std::lock_guard lock{mutex_};
    return alarms_;
  }
  std::string metrics() const { return metrics_->text(); }

 private:
  mutable std::mutex mutex_;
  std::map<TaskId, int> runs_;
  std::vector<std::string> alarms_;
  std::atomic<bool> released_ = false;
  Engine engine_;
  std::shared_ptr<Metrics> metrics_;
  Tasks tasks_{engine_};
  std::optional<Worker> worker_;
  std::jthread working_;
};

class ServerClockSteps : public testing::TestWithParam<Case> {
 protected:
  /// A worker in a process of its own, which has a task and stands still: no lock and no connection
  /// proves that it is dead. Returns the task.
  TaskId stop_a_worker() {
    // Of a kind of its own, so that no later one takes what an earlier one had.
    auto kind = "stuck-" + std::to_string(stopped_.size());
    auto id = tasks_.enqueue(kind, 1);
    auto process =
        Process{{STUCK_WORKER, store_->address(), kind, std::to_string(Millis{heartbeat}.count()),
                 std::to_string(lease / heartbeat)}};
    EXPECT_TRUE(eventually([&] { return record(id).state == TaskState::running; }, 60s))
        << Inspector{engine_}.explain(id) << process.err();
    EXPECT_TRUE(eventually([&] {
      process.stop();
      if (store_->is_quiet()) return true;
      process.signal(SIGCONT);
      return false;
    }));
    stopped_.push_back(std::move(process));
    return id;
  }
  TaskRecord record(TaskId id) const { return Inspector{engine_}.task(id).value(); }

  /// Tasks that living workers have from the beginning of the test to its end.
  void start_long_tasks(int workers) {
    for (int i = 0; i < workers; ++i)
      living_.push_back(std::make_unique<LivingWorker>(store_->address()));
    for (int i = 0; i < 2 * workers; ++i) long_.push_back(tasks_.enqueue("long", 1));
    ASSERT_TRUE(eventually([&] { return runs().size() == long_.size(); }, 60s));
  }
  std::map<TaskId, int> runs() const {
    std::map<TaskId, int> all;
    for (const auto& worker : living_)
      for (const auto& [id, count] : worker->runs()) all[id] += count;
    return all;
  }
  void expect_long_tasks_run_once() {
    for (const auto& id : long_) {
      EXPECT_EQ(record(id).state, TaskState::running);
      EXPECT_EQ(record(id).recoveries, 0) << Inspector{engine_}.explain(id);
    }
    EXPECT_THAT(runs(), Each(testing::Pair(testing::_, 1)));
  }
  void finish() {
    for (const auto& worker : living_) worker->release();
    EXPECT_TRUE(eventually(
        [&] {
          return std::ranges::all_of(
              long_, [&](auto id) { return record(id).state == TaskState::completed; });
        },
        60s));
    EXPECT_THAT(runs(), Each(testing::Pair(testing::_, 1)));
    EXPECT_EQ(Inspector{engine_}.stale_writes_refused(), 0);
  }
  testing::AssertionResult is_taken_back(TaskId id) {
    if (eventually([&] { return record(id).recoveries > 0; }, recovered_within))
      return testing::AssertionSuccess();
    return testing::AssertionFailure() << Inspector{engine_}.explain(id);
  }

  std::unique_ptr<ClockedStore> store_ = GetParam().make();
  Engine engine_ = open(store_->address(), brisk());
  Tasks tasks_{engine_};
  std::vector<TaskId> long_;
  std::vector<Process> stopped_;
  std::vector<std::unique_ptr<LivingWorker>> living_;
};

TEST_P(ServerClockSteps, ForwardTakesNothingThatIsRenewedAndWhatIsDeadAllTheSame) {
  start_long_tasks(2);
  for (auto ahead : {hour, day}) {
    auto stuck = stop_a_worker();
    store_->set_clock(ahead);
    EXPECT_TRUE(is_taken_back(stuck));
    expect_long_tasks_run_once();
  }
  finish();
}

TEST_P(ServerClockSteps, BackLeavesNobodyWithALeaseUntilTheOldTime) {
  store_->set_clock(day);
  start_long_tasks(2);
  for (auto ahead : {day - hour, std::chrono::seconds{0}}) {
    auto stuck = stop_a_worker();
    store_->set_clock(ahead);
    EXPECT_TRUE(is_taken_back(stuck));
    expect_long_tasks_run_once();
  }
  finish();
}

TEST_P(ServerClockSteps, ThatEndMostLeasesAtOnceRaiseAnAlarmAndStopNothing) {
  std::vector<TaskId> stuck;
  for (int i = 0; i < 4; ++i) stuck.push_back(stop_a_worker());
  start_long_tasks(1);
  store_->set_clock(hour);
  for (auto id : stuck) EXPECT_TRUE(is_taken_back(id));
  expect_long_tasks_run_once();
  EXPECT_THAT(living_[0]->alarms(), testing::Contains(HasSubstr("Mass expiry: ")));
  EXPECT_THAT(living_[0]->metrics(), HasSubstr("holdfast_mass_expiries_total 1"));
  std::vector<std::string> reported;
  for (const auto& report : Inspector{engine_}.reports(100, 0))
    reported.insert(reported.end(), report.errors.begin(), report.errors.end());
  EXPECT_THAT(reported, testing::Contains(HasSubstr("Mass expiry: ")));
  finish();
}

/// Otherwise processes that each run briefly would never take anything back.
TEST_P(ServerClockSteps, AWorkerThatEndsWhenNothingIsLeftLooksTwiceBefore) {
  auto stuck = stop_a_worker();
  store_->set_clock(hour);
  Tasks brief{open(store_->address(), brisk())};
  brief.on_json("stuck-0", [](Attempt&) { return done; });
  run(brief, {.until_empty = true});
  EXPECT_EQ(record(stuck).state, TaskState::completed) << Inspector{engine_}.explain(stuck);
}

INSTANTIATE_TEST_SUITE_P(Postgres, ServerClockSteps,
                         testing::Values(Case{"Postgres",
                                              [] { return std::make_unique<OnPostgres>(); }}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Redis, ServerClockSteps,
                         testing::Values(Case{"Redis", [] { return std::make_unique<OnRedis>(); }}),
                         name_of);

}  // namespace
}  // namespace holdfast::test
