#include <future>

#include <gmock/gmock.h>
#include <libpq-fe.h>

#include <holdfast/holdfast.hpp>

#include "server/watcher.hpp"
#include "support/postgres_server.hpp"
#include "support/process.hpp"

namespace holdfast::test {
namespace {

/// A transaction that lets nobody read the tasks, for as long as it lives.
class LockedTasks {
 public:
  LockedTasks(const PostgresServer& server, const std::string& schema)
      : connection_{PQconnectdb(server.connection().c_str())} {
    run("BEGIN");
    run("LOCK TABLE \"" + schema + "\".tasks IN ACCESS EXCLUSIVE MODE");
  }
  ~LockedTasks() { PQfinish(connection_); }
  LockedTasks(const LockedTasks&) = delete;
  LockedTasks& operator=(const LockedTasks&) = delete;

 private:
  void run(const std::string& sql) {
    auto* result = PQexec(connection_, sql.c_str());
    EXPECT_EQ(PQresultStatus(result), PGRES_COMMAND_OK) << PQerrorMessage(connection_);
    PQclear(result);
  }
  PGconn* connection_;
};

TEST(CountsOfManyTasks, KeepNobodyWaitingWhileTheyAreCounted) {
  auto& server = PostgresServer::shared();
  const auto address = server.new_store();
  const auto engine = open(address);
  Tasks tasks{engine};
  for (int i = 0; i < 3; ++i) tasks.enqueue("a", i);
  server::Watcher watcher{engine, std::make_shared<server::Hub>(),
                          std::make_shared<server::History>(engine), 1};
  auto counted = [&]() -> std::int64_t {
    const auto queues = watcher.queues();
    return queues.empty() ? 0 : queues[0].counts[0];
  };
  ASSERT_EQ(counted(), 3);
  tasks.enqueue("a", 3);
  const auto schema = server.ask(
      "SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg%' AND nspname NOT IN"
      " ('public', 'information_schema') ORDER BY oid DESC LIMIT 1");
  std::future<std::int64_t> answer;
  {
    const LockedTasks nobody_counts{server, schema};
    watcher.acted();
    answer = std::async(std::launch::async, counted);
    ASSERT_EQ(answer.wait_for(std::chrono::seconds{60}), std::future_status::ready);
    EXPECT_EQ(answer.get(), 3) << "what was counted last";
  }
  EXPECT_TRUE(eventually([&] { return counted() == 4; }));
}

}  // namespace
}  // namespace holdfast::test
