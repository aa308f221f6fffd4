#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include <fmt/format.h>

#include <holdfast/holdfast.hpp>

#include "support/postgres_server.hpp"
#include "support/process.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct Job {
  std::string text;
};
BOOST_DESCRIBE_STRUCT(Job, (), (text))

/// A worker in a thread of its own that is not to notice more of an outage than that it takes long.
class PostgresOutage : public testing::Test {
 protected:
  ~PostgresOutage() override {
    if (working_.joinable()) worker_->drain();
  }
  void start_worker(const std::string& address) {
    engine_.emplace(open(address));
    tasks_.emplace(*engine_);
    tasks_->on<Job>("job", [this](const Job&, Attempt& attempt) {
      std::lock_guard lock{mutex_};
      handled_.insert(attempt.task());
      return done;
    });
    engine_->events().subscribe([this](const Event& event) {
      std::lock_guard lock{mutex_};
      if (auto* trouble = std::get_if<StoreTrouble>(&event)) troubles_.push_back(trouble->what);
      if (std::get_if<StaleWriteRefused>(&event)) ++refused_;
    });
    worker_.emplace(*tasks_, WorkerOptions{.concurrency = 2});
    working_ = std::jthread{[this] { worker_->run(); }};
  }
  void end_worker() {
    worker_->drain();
    working_.join();
  }

  /// Enqueues one job, as often as it takes; the id makes that safe.
  void enqueue() {
    NewTask job{"job", to_payload(Job{"small"}), {.id = TaskId::make()}};
    ASSERT_TRUE(eventually([&] { return try_enqueue(job).empty(); }, 90s)) << try_enqueue(job);
    ++sent_;
  }
  /// What was wrong; empty: nothing.
  std::string try_enqueue(const NewTask& job) {
    try {
      tasks_->enqueue(job);
      return {};
    } catch (const StoreError& error) {
      return error.what();
    }
  }
  void expect_that_nothing_is_lost();
  std::vector<std::string> troubles() {
    std::lock_guard lock{mutex_};
    return troubles_;
  }

  std::optional<Engine> engine_;
  std::optional<Tasks> tasks_;
  std::optional<Worker> worker_;
  std::mutex mutex_;
  std::vector<std::string> troubles_;
  int refused_ = 0;
  std::size_t sent_ = 0;
  std::set<TaskId> handled_;
  std::jthread working_;
};

/// A full store sheds finished tasks, so it is the handler who knows.
void PostgresOutage::expect_that_nothing_is_lost() {
  auto unfinished = [&] {
    try {
      return Inspector{*engine_}.count({.states = {TaskState::pending, TaskState::running}});
    } catch (const StoreError&) {
      return std::int64_t{-1};
    }
  };
  EXPECT_TRUE(eventually([&] { return unfinished() == 0; }, 90s)) << unfinished();
  EXPECT_EQ(Inspector{*engine_}.count({.states = {TaskState::failed}}), 0);
  std::lock_guard lock{mutex_};
  EXPECT_EQ(handled_.size(), sent_);
  EXPECT_EQ(refused_, 0);
}

TEST_F(PostgresOutage, WorkGoesOnAtTheStandbyThatIsPromoted) {
  // Nothing is acknowledged before the standby has it.
  PostgresServer first{
      {.settings = "synchronous_standby_names = '*'\nsynchronous_commit = local\n"}};
  auto second = PostgresServer::standby_of(first);
  first.ask("ALTER SYSTEM SET synchronous_commit = on");
  first.ask("SELECT pg_reload_conf()");
  auto both = fmt::format(
      "postgres:host={},{} port={},{} dbname=postgres user=admin target_session_attrs=read-write",
      first.folder(), second->folder(), first.port(), second->port());
  start_worker(both);
  for (int i = 0; i < 50; ++i) enqueue();
  first.stop();
  std::jthread promoting{[&] { second->promote(); }};
  for (int i = 0; i < 50; ++i) enqueue();
  expect_that_nothing_is_lost();
  EXPECT_FALSE(troubles().empty()) << "it was said that the server was away";
  end_worker();
}

TEST_F(PostgresOutage, WorkGoesOnWhenAServerThatTookNoWritesTakesThemAgain) {
  PostgresServer server;
  start_worker(server.address());
  for (int i = 0; i < 20; ++i) enqueue();
  server.ask("ALTER SYSTEM SET default_transaction_read_only = on");
  server.ask("SELECT pg_reload_conf()");
  NewTask job{"job", to_payload(Job{"small"}), {.id = TaskId::make()}};
  std::string said;
  ASSERT_TRUE(eventually([&] {
    job.options.id = TaskId::make();
    said = try_enqueue(job);
    if (said.empty()) ++sent_;
    return !said.empty();
  }));
  EXPECT_THAT(said, HasSubstr("takes no writes"));
  server.ask("ALTER SYSTEM RESET default_transaction_read_only");
  server.ask("SELECT pg_reload_conf()");
  for (int i = 0; i < 20; ++i) enqueue();
  expect_that_nothing_is_lost();
  end_worker();
}

/// A disk for the tables of a store that is soon full.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& folder) : folder_{folder} {
    std::filesystem::create_directory(folder_);
    mount(0, "size=12m,mode=0777");
    std::filesystem::create_directory(folder_ + "/tables");
    struct stat owner {};
    if (::stat((folder + "/..").c_str(), &owner) != 0 ||
        ::chown((folder_ + "/tables").c_str(), owner.st_uid, owner.st_gid) != 0)
      throw std::runtime_error{"cannot give away " + folder_};
  }
  ~SmallDisk() { ::umount2(folder_.c_str(), MNT_DETACH); }
  void grow() { mount(MS_REMOUNT, "size=200m,mode=0777"); }
  std::string tables() const { return folder_ + "/tables"; }

 private:
  void mount(unsigned long flags, const char* options) {
    if (::mount("tmpfs", folder_.c_str(), "tmpfs", flags, options) != 0)
      throw std::runtime_error{"cannot mount a small disk, which only root may"};
  }
  std::string folder_;
};

TEST_F(PostgresOutage, FullDiskOfTheServerRefusesNewWorkAndLosesNone) {
  PostgresServer server;
  SmallDisk disk{server.folder() + "/small"};
  server.ask("CREATE TABLESPACE small LOCATION '" + disk.tables() + "'");
  start_worker(server.address("options='-c default_tablespace=small'"));
  std::string said;
  // Text that compresses well would take no room.
  std::mt19937 random{1};
  std::string large(100'000, ' ');
  for (auto& letter : large) letter = static_cast<char>('a' + random() % 26);
  NewTask job{"job", to_payload(Job{large})};
  ASSERT_TRUE(eventually(
      [&] {
        job.options.id = TaskId::make();
        said = try_enqueue(job);
        if (said.empty()) ++sent_;
        return !said.empty();
      },
      60s));
  EXPECT_THAT(said, HasSubstr("free some space on the server's disk"));
  EXPECT_EQ(server.ask("SELECT count(*) FROM holdfast.tasks"), std::to_string(sent_))
      << "what has ended is not removed in vain";
  disk.grow();
  for (int i = 0; i < 20; ++i) enqueue();
  expect_that_nothing_is_lost();
  end_worker();
}

}  // namespace
}  // namespace holdfast::test
