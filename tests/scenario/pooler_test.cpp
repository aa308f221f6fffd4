#include <gmock/gmock.h>
#include <pwd.h>
#include <signal.h>

#include <fstream>

#include <fmt/format.h>

#include <holdfast/holdfast.hpp>

#include "support/postgres_server.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

struct Job {
  int n = 0;
};
BOOST_DESCRIBE_STRUCT(Job, (), (n))

/// PgBouncer before the server, which gives each transaction whatever session is free.
class Pooler : public testing::Test {
 protected:
  Pooler() {
    auto folder = folder_.folder();
    std::ofstream{folder / "pgbouncer.ini"}
        << "[databases]\npostgres = host=" << server().folder() << " port=" << server().port()
        << " user=admin\n[pgbouncer]\npool_mode = transaction\nauth_type = any\n"
        << "listen_addr =\nlisten_port = 6432\nunix_socket_dir = " << folder.string()
        << "\nlogfile = " << (folder / "log").string() << "\ndefault_pool_size = 3\n";
    std::filesystem::permissions(folder, std::filesystem::perms::all);
    std::vector<std::string> command{"/usr/sbin/pgbouncer", folder / "pgbouncer.ini"};
    // It refuses to run as root.
    if (::geteuid() == 0) command.insert(command.begin() + 1, {"--user", "postgres"});
    process_.emplace(command);
  }

  PostgresServer& server() { return PostgresServer::shared(); }
  std::string address() {
    return fmt::format("postgres:host={} port=6432 dbname=postgres user=admin schema=pooled_{}",
                       folder_.folder().string(), ::getpid());
  }
  Engine open_store() {
    std::optional<Engine> engine;
    EXPECT_TRUE(eventually([&] {
      try {
        engine = open(address());
        return true;
      } catch (const StoreError&) {
        return false;
      }
    })) << process_->err();
    return engine.value();
  }

  TempStore folder_;
  std::optional<Process> process_;
};

TEST_F(Pooler, TasksRunAndTheLogSaysThatOnlyAgeProvesADeath) {
  auto engine = open_store();
  std::string said;
  std::mutex mutex;
  engine.events().subscribe([&](const Event& event) {
    std::lock_guard lock{mutex};
    if (std::holds_alternative<StoreWarning>(event)) said += to_text(event) + "\n";
  });
  Tasks tasks{engine};
  tasks.on<Job>("job", [](const Job&, Attempt& attempt) {
    attempt.log("hello");
    return done;
  });
  tasks.enqueue_all(std::vector<NewTask>(300, NewTask{"job", R"({"n":1})"}));
  auto summary = Worker{tasks, {.concurrency = 4, .until_empty = true}}.run();
  EXPECT_EQ(summary.completed, 300);
  EXPECT_EQ(Inspector{engine}.count({.states = {TaskState::completed}}), 300);
  std::lock_guard lock{mutex};
  EXPECT_THAT(said, HasSubstr("pooler"));
}

TEST_F(Pooler, DeathIsNotProven) {
  auto engine = open_store();
  auto enlistment = engine.parts().workers().enlist({.queues = {}, .kinds = {"job"}});
  auto id = enlistment->id();
  enlistment.reset();
  for (const auto& sighting : engine.parts().workers().look()) {
    if (sighting.status.id != id) continue;
    EXPECT_FALSE(sighting.proven_dead);
    EXPECT_THAT(sighting.status.proof, HasSubstr("pooler"));
    return;
  }
  FAIL() << "nobody sees it";
}

}  // namespace
}  // namespace holdfast::test
