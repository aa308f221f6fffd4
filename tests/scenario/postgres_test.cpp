#include <gmock/gmock.h>
#include <libpq-fe.h>

#include <atomic>
#include <thread>

#include <fmt/format.h>

#include <holdfast/batches.hpp>
#include <holdfast/diagnosis.hpp>
#include <holdfast/holdfast.hpp>
#include <holdfast/postgres.hpp>

#include "engines/postgres/connection.hpp"
#include "engines/postgres/schema.hpp"
#include "support/postgres_server.hpp"
#include "support/process.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Job {
  int n = 0;
};
BOOST_DESCRIBE_STRUCT(Job, (), (n))

class Postgres : public testing::Test {
 protected:
  PostgresServer& server() { return PostgresServer::shared(); }
  std::string schema() const { return address_.substr(address_.rfind('=') + 1); }
  Engine open_store() const { return open(address_); }
  static std::vector<NewTask> jobs(int count) {
    return std::vector<NewTask>(static_cast<std::size_t>(count), NewTask{"job", R"({"n":1})"});
  }
  std::int64_t completed(const Engine& engine) const {
    return Inspector{engine}.count({.states = {TaskState::completed}});
  }
  void end_every_session() {
    server().ask(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE application_name = 'holdfast'");
  }

  /// Works `count` jobs off in another thread while `meddle` goes on in this one.
  void work_through(int count, const std::function<void()>& meddle) {
    auto engine = open_store();
    Tasks tasks{engine};
    std::atomic<int> runs{0};
    tasks.on<Job>("job", [&](const Job&, Attempt&) {
      ++runs;
      return done;
    });
    Worker worker{tasks, {.concurrency = 4}};
    WorkerSummary summary;
    std::jthread working{[&] { summary = worker.run(); }};
    for (int sent = 0; sent < count; sent += 20) {
      auto some = jobs(20);
      for (auto& job : some) job.options.id = TaskId::make();
      // An enqueue that failed may have been done; with ids of our own it can be repeated.
      EXPECT_TRUE(eventually([&] { return enqueued(tasks, some); }, std::chrono::seconds{60}));
      if (sent % 100 == 0) meddle();
    }
    EXPECT_TRUE(eventually([&] { return all_done(engine, count); }, std::chrono::seconds{90}));
    worker.drain();
    working.join();
    EXPECT_EQ(summary.refused, 0);
    EXPECT_EQ(Inspector{engine}.count({}), count);
    EXPECT_GE(runs, count);
  }

  static bool enqueued(Tasks& tasks, const std::vector<NewTask>& some) {
    try {
      tasks.enqueue_all(some);
      return true;
    } catch (const StoreError&) {
      return false;
    }
  }

  bool all_done(const Engine& engine, int count) const {
    try {
      return completed(engine) == count;
    } catch (const StoreError&) {
      return false;
    }
  }

  std::string address_ = PostgresServer::shared().new_store();
};

TEST_F(Postgres, CountsThatSomebodyChangedAreFoundAndCountedAnew) {
  auto engine = open_store();
  Tasks{engine}.enqueue_all(jobs(20));
  Inspector inspector{engine};
  EXPECT_TRUE(inspector.check_integrity(false).passed);
  server().ask(fmt::format("INSERT INTO \"{}\".count_changes VALUES ('default', 0, 5) RETURNING 1",
                           schema()));
  EXPECT_EQ(inspector.count({}), 25);
  auto found = inspector.check_integrity(false);
  ASSERT_EQ(found.damage.size(), 1u);
  EXPECT_THAT(found.damage[0].what, HasSubstr("said to have 25 pending tasks, and has 20"));
  EXPECT_EQ(inspector.count({}), 20);
  EXPECT_TRUE(inspector.check_integrity(false).passed);
}

TEST_F(Postgres, ChangesOfCountsAreAddedUpNowAndThen) {
  auto engine = open_store();
  Tasks tasks{engine};
  for (int i = 0; i < 3'000; ++i) tasks.enqueue("job", Job{i});
  EXPECT_EQ(Inspector{engine}.count({}), 3'000);
  // Each write does it with a chance of 1 in 200; that none does happens once in three million
  // runs.
  EXPECT_LT(
      std::stoi(server().ask(fmt::format("SELECT count(*) FROM \"{}\".count_changes", schema()))),
      3'000);
}

TEST_F(Postgres, WorkGoesOnWhenEverySessionIsEndedAgainAndAgain) {
  work_through(600, [&] { end_every_session(); });
}

TEST_F(Postgres, WorkGoesOnWhenTheServerIsKilledAndComesBack) {
  int kills = 0;
  work_through(300, [&] {
    if (++kills > 2) return;
    server().stop();
    server().start();
  });
}

TEST_F(Postgres, WhoWaitsForABatchWaitsForTheServerToo) {
  auto engine = open_store();
  std::atomic<bool> away{false};
  engine.events().subscribe([&](const Event& event) {
    auto* trouble = std::get_if<StoreTrouble>(&event);
    if (trouble && trouble->what.starts_with("looking at batch")) away = true;
  });
  Batches batches{engine};
  auto id = batches.submit({.app = "a", .op = "b", .rows = {{1, "{}"}}}).id;
  BatchRecord ended;
  std::atomic<bool> looked{false};
  std::jthread waiting{[&] { ended = batches.wait(id, [&](const auto&) { looked = true; }); }};
  ASSERT_TRUE(eventually([&] { return looked.load(); }));
  server().stop();
  EXPECT_TRUE(eventually([&] { return away.load(); }));
  server().start();
  EXPECT_TRUE(Batches{open_store()}.abort(id));
  waiting.join();
  EXPECT_EQ(ended.status, BatchStatus::aborted);
}

TEST_F(Postgres, TablesOfANewerVersionAreRefused) {
  open_store();
  server().ask("UPDATE " + schema() + ".meta SET value = 99 WHERE key = 'schema_version'");
  try {
    open_store();
    FAIL() << "it was opened";
  } catch (const StoreUnusable& error) {
    EXPECT_THAT(error.what(), HasSubstr("version 99"));
  }
}

TEST_F(Postgres, TablesOfTheFirstVersionAreBroughtToThisOneWithWhatIsInThem) {
  postgres::Dialect dialect{{.schema = schema()}, system_clock()};
  auto first = dialect.expand(
      fmt::format("{} INSERT INTO hf.meta VALUES ('schema_version', 1);"
                  " INSERT INTO hf.tasks (id, run_at, created_at, timeout, max_attempts, state,"
                  " priority, queue, kind, payload) SELECT gen_random_uuid(), 0, n, 0, 3, 0, 2,"
                  " 'default', 'job', '{{\"n\":1}}' FROM generate_series(1, 50) n",
                  postgres::schema_1));
  server().ask("CREATE SCHEMA " + schema());
  server().ask(first);
  auto engine = open_store();
  Limits{engine}.set({.scope = LimitScope::queue, .name = "default", .max_running = 3});
  Tasks tasks{engine};
  tasks.on<Job>("job", [](const Job&, Attempt&) { return done; });
  tasks.enqueue("job", Job{1}, {.limit_key = "tenant"});
  Worker{tasks, {.until_empty = true}}.run();
  EXPECT_EQ(completed(engine), 51);
}

TEST_F(Postgres, LookingForBatchesMakesNoTablesForThem) {
  auto tables = [&] {
    return server().ask(
        "SELECT count(*) FROM pg_class WHERE relname = 'batchrows'"
        " AND relnamespace::regnamespace::text = '" +
        schema() + "'");
  };
  Batches batches{open_store()};
  auto id = BatchId::make();
  EXPECT_TRUE(batches.list({}).empty());
  EXPECT_FALSE(batches.status(id));
  EXPECT_FALSE(batches.release(id));
  EXPECT_FALSE(batches.abort(id));
  EXPECT_EQ(batches.recover().orphans.all(), 0);
  EXPECT_EQ(tables(), "0");
  batches.submit({.app = "a", .op = "b", .rows = {{1, "{}"}}});
  EXPECT_EQ(tables(), "1");
  Batches mistyped{open(address_ + " batches=batchez")};
  EXPECT_THROW(mistyped.list({}), StoreUnusable);
  EXPECT_EQ(server().ask("SELECT count(*) FROM pg_namespace WHERE nspname = 'batchez'"), "0");
}

TEST_F(Postgres, MistypedParametersAreNamed) {
  try {
    open("postgres://user@127.0.0.1/work?shcema=jobs");
    FAIL() << "it was opened";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'shcema'"));
    EXPECT_THAT(error.what(), HasSubstr("schema, batches, durability"));
  }
}

TEST_F(Postgres, ReadOnlyServerIsLookedAtAndNotWrittenTo) {
  auto first = open_store();
  Tasks{first}.enqueue("job", Job{1});
  auto read_only = open(address_ + " options='-c default_transaction_read_only=on'");
  EXPECT_EQ(read_only.run_level(), RunLevel::read_only);
  EXPECT_EQ(Inspector{read_only}.count({}), 1);
  EXPECT_THROW(Tasks{read_only}.enqueue("job", Job{2}), StoreReadOnly);
}

TEST_F(Postgres, LookingForAStoreMakesNone) {
  EXPECT_FALSE(holds_store(address_));
  EXPECT_FALSE(holds_store(address_));
  open_store();
  EXPECT_TRUE(holds_store(address_));
}

TEST_F(Postgres, SecretsAreInNoMessage) {
  auto says = [](const std::string& address) -> std::string {
    try {
      return open(address).name();
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(says("postgres://ada:sesame@localhost:1/work"), Not(HasSubstr("sesame")));
  EXPECT_THAT(says("postgres://ada:sesame@[::1/work"), Not(HasSubstr("sesame")));
  for (auto* bad : {"ses/ame", "sesame@", "sesame/@"}) {
    auto text = says(fmt::format("postgres://ada:{}@localhost:1/work", bad));
    EXPECT_THAT(text, Not(HasSubstr("ses"))) << text;
    EXPECT_THAT(text, HasSubstr("%2F"));
  }
  EXPECT_THAT(says("postgres:host=/nowhere password=sesame what"), Not(HasSubstr("sesame")));
  EXPECT_THAT(says(address_ + " password=sesame"), Not(HasSubstr("sesame")));
}

/// A connection of the user's own.
class OwnTransaction : public Postgres {
 protected:
  void run(const std::string& sql) {
    std::unique_ptr<PGresult, void (*)(PGresult*)> result{PQexec(db_.get(), sql.c_str()), PQclear};
    auto status = PQresultStatus(result.get());
    ASSERT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        << PQerrorMessage(db_.get());
  }
  std::unique_ptr<PGconn, void (*)(PGconn*)> db_{PQconnectdb(server().connection().c_str()),
                                                 PQfinish};
};

TEST_F(OwnTransaction, TaskExistsIfAndWhenItCommits) {
  auto engine = open_store();
  EXPECT_THROW(postgres::enqueue(engine, db_.get(), "job", Job{1}), InvalidRequest);
  run("BEGIN");
  postgres::enqueue(engine, db_.get(), "job", Job{1});
  EXPECT_EQ(Inspector{engine}.count({}), 0);
  run("ROLLBACK");
  EXPECT_EQ(Inspector{engine}.count({}), 0);
  run("BEGIN");
  auto id = postgres::enqueue(engine, db_.get(), "job", Job{2});
  run("COMMIT");
  EXPECT_TRUE(Inspector{engine}.task(id));
}

TEST_F(OwnTransaction, WhatTheHandlerWritesAndTheEndOfItsTaskCommitTogether) {
  run("CREATE TABLE " + schema() + "_sums (n int)");
  auto engine = open_store();
  Tasks tasks{engine};
  tasks.on<Job>("job", [&](const Job& job, Attempt& attempt) -> Outcome {
    run("BEGIN");
    run("INSERT INTO " + schema() + "_sums VALUES (" + std::to_string(job.n) + ")");
    postgres::complete(engine, db_.get(), attempt, R"({"sum":1})");
    if (attempt.number() == 1) {
      run("ROLLBACK");
      return retry_in(Millis{1}, "thought better of it");
    }
    run("COMMIT");
    return done;
  });
  auto id = tasks.enqueue("job", Job{7});
  auto summary = Worker{tasks, {.concurrency = 1, .until_empty = true}}.run();
  EXPECT_EQ(summary.completed, 1);
  EXPECT_EQ(summary.refused, 0);
  auto task = Inspector{engine}.task(id);
  EXPECT_EQ(task->state, TaskState::completed);
  EXPECT_EQ(task->attempt, 2);
  EXPECT_EQ(task->result, R"({"sum":1})");
  EXPECT_EQ(server().ask("SELECT count(*) FROM " + schema() + "_sums"), "1");
}

TEST_F(OwnTransaction, OpenOneIsShownAsWhatKeepsTheServerFromCleaning) {
  auto engine = open_store();
  run("SET application_name = 'somebody'");
  run("BEGIN");
  run("SELECT pg_current_xact_id()");
  EXPECT_TRUE(eventually([&] {
    auto upkeep = postgres::upkeep(engine);
    return upkeep && upkeep->blocker && upkeep->blocker->who.starts_with("somebody");
  }));
  run("ROLLBACK");
}

/// Stands for the session that a worker had before it was cut off, of which the server does not
/// know yet that it is gone.
TEST_F(OwnTransaction, WorkerThatComesBackEndsTheSessionThatStillHasItsLock) {
  auto engine = open_store();
  auto worker = engine.parts().workers().enlist({.queues = {}, .kinds = {"job"}});
  auto key = server().ask("SELECT lock FROM " + schema() + ".workers");
  auto sessions = [&](const std::string& what, const std::string& granted) {
    return server().ask("SELECT " + what +
                        " FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE"
                        " l.locktype = 'advisory' AND l.mode = 'ExclusiveLock' AND l.granted = " +
                        granted + " AND (l.classid::bigint << 32 | l.objid::bigint) = " + key);
  };
  run("SET application_name = 'former'");
  ASSERT_EQ(PQsendQuery(db_.get(), ("SELECT pg_advisory_lock(" + key + ")").c_str()), 1);
  ASSERT_TRUE(eventually([&] { return sessions("count(*)", "false") == "1"; }));
  sessions("pg_terminate_backend(pid)", "true");
  EXPECT_TRUE(eventually([&] { return sessions("min(application_name)", "true") == "holdfast"; }));
}

TEST_F(OwnTransaction, OneInAnotherDatabaseIsInNobodysWay) {
  auto engine = open_store();
  server().ask("CREATE DATABASE " + schema());
  db_.reset(PQconnectdb(server().connection("dbname=" + schema()).c_str()));
  run("SET application_name = 'elsewhere'");
  run("BEGIN");
  run("SELECT pg_current_xact_id()");
  ASSERT_TRUE(eventually([&] {
    return server().ask(
               "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'elsewhere'"
               " AND clock_timestamp() - xact_start > interval '1.2 s'") == "1";
  }));
  auto upkeep = postgres::upkeep(engine);
  ASSERT_TRUE(upkeep);
  EXPECT_FALSE(upkeep->blocker && upkeep->blocker->who.starts_with("elsewhere"));
  run("ROLLBACK");
}

}  // namespace
}  // namespace holdfast::test
