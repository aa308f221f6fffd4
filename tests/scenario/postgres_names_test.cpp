#include <gmock/gmock.h>
#include <libpq-fe.h>
#include <unistd.h>

#include <fmt/format.h>

#include <holdfast/batches.hpp>
#include <holdfast/diagnosis.hpp>
#include <holdfast/holdfast.hpp>
#include <holdfast/postgres.hpp>

#include "engines/postgres/engine.hpp"
#include "engines/postgres/store.hpp"
#include "support/pg_bouncer.hpp"
#include "support/postgres_server.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

struct Job {
  int n = 0;
};
BOOST_DESCRIBE_STRUCT(Job, (), (n))

using OwnedConnection = std::unique_ptr<PGconn, void (*)(PGconn*)>;

std::string ask(PGconn* db, const std::string& sql) {
  std::unique_ptr<PGresult, void (*)(PGresult*)> result{PQexec(db, sql.c_str()), PQclear};
  auto status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
    throw std::runtime_error{PQerrorMessage(db)};
  return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

/// Functions and operators with the names that statements use, in `public` and in the schema of the
/// store, for the types that PostgreSQL's own are not exactly for, and for those as well. Each that
/// is called counts in a sequence, which no rollback takes back.
constexpr std::string_view traps = R"(
DO $$
DECLARE
  place text; name text; a text; b text; f text; n int := 0;
BEGIN
  FOREACH place IN ARRAY ARRAY['public', 'store'] LOOP
    FOREACH name IN ARRAY ARRAY['=', '<>', '<', '>', '<=', '>=', '||', '+', '-', '*', '|'] LOOP
      FOREACH a IN ARRAY ARRAY['int2', 'int4', 'int8', 'text', 'varchar', 'name', 'uuid', 'bool',
                               'numeric', 'timestamp'] LOOP
        FOREACH b IN ARRAY ARRAY[a, 'int4', 'int8', 'text', 'varchar', 'numeric'] LOOP
          n := n + 1;
          f := format('%I.trap%s', place, n);
          EXECUTE format('CREATE FUNCTION %s(%s, %s) RETURNS bool LANGUAGE plpgsql AS '
            '%L', f, a, b, format('BEGIN PERFORM pg_catalog.nextval(''public.sprung''); '
            'RAISE EXCEPTION ''trap %s(%s, %s)''; END', name, a, b));
          BEGIN
            EXECUTE format('CREATE OPERATOR %I.%s (leftarg = %s, rightarg = %s, function = %s)',
                           place, name, a, b, f);
          EXCEPTION WHEN duplicate_function THEN NULL;
          END;
        END LOOP;
      END LOOP;
    END LOOP;
    FOREACH f IN ARRAY ARRAY['lower(varchar)', 'lower(text)', 'now()', 'clock_timestamp()',
        'version()', 'pg_backend_pid()', 'current_setting(text)', 'current_setting(varchar)',
        'set_config(text, text, bool)', 'pg_notify(text, text)', 'pg_notify(varchar, varchar)',
        'pg_advisory_lock(int8)', 'pg_advisory_xact_lock(int8)', 'cardinality(text[])',
        'length(varchar)', 'length(text)', 'gen_random_uuid()', 'to_regclass(text)',
        'has_table_privilege(text, text)', 'pg_current_xact_id_if_assigned()',
        'hashtextextended(text, int8)', 'left(varchar, int4)', 'md5(varchar)'] LOOP
      EXECUTE format('CREATE FUNCTION %I.%s RETURNS text LANGUAGE plpgsql AS %L', place, f,
        format('BEGIN PERFORM pg_catalog.nextval(''public.sprung''); '
               'RAISE EXCEPTION ''trap %%'', %L; END', f));
    END LOOP;
  END LOOP;
END $$)";

/// A database in which another role may create what it likes in `public` and in the schema of the
/// store. The owner's `search_path` begins with both, which is as bad as it gets.
class PostgresNames : public testing::Test {
 protected:
  PostgresNames() : name_{fmt::format("names_{}_{}", ::getpid(), ++databases_)} {
    server().ask(fmt::format("CREATE ROLE {}_owner LOGIN", name_));
    server().ask(fmt::format("CREATE ROLE {}_eve LOGIN", name_));
    server().ask(fmt::format("CREATE DATABASE {0} OWNER {0}_owner", name_));
    server().ask(
        fmt::format("ALTER ROLE {}_owner SET search_path = public, store, pg_catalog", name_));
    auto owner = connect("owner");
    ask(owner.get(), fmt::format("CREATE SCHEMA store; GRANT CREATE, USAGE ON SCHEMA store, public"
                                 " TO {}_eve",
                                 name_));
    auto eve = connect("eve");
    ask(eve.get(), "CREATE SEQUENCE public.sprung; GRANT ALL ON SEQUENCE public.sprung TO PUBLIC");
    ask(eve.get(), std::string{traps});
  }

  static PostgresServer& server() { return PostgresServer::shared(); }
  std::string role(const std::string& who) const { return name_ + "_" + who; }
  OwnedConnection connect(const std::string& who) const {
    auto words = server().connection(fmt::format("dbname={} user={}", name_, role(who)));
    return {PQconnectdb(words.c_str()), PQfinish};
  }
  std::string direct(const std::string& more = {}) const {
    return server().address(
        fmt::format("dbname={} user={} schema=store {}", name_, role("owner"), more));
  }

  /// One of everything that a store is used for.
  static void use(const Engine& engine) {
    Tasks tasks{engine};
    tasks.on<Job>("job", [](const Job& job, Attempt& attempt) -> Outcome {
      attempt.log("hello");
      if (job.n == 3 && attempt.number() == 1) return retry("again");
      return done;
    });
    for (int i = 0; i < 5; ++i) tasks.enqueue("job", Job{i}, {.unique_key = std::to_string(i)});
    Limits{engine}.set({.scope = LimitScope::queue, .name = "default", .max_running = 2});
    Batches batches{engine};
    batches.on("shop", "import", [](const RowAttempt&) { return row_done(Job{1}); });
    batches.submit({.app = "shop", .op = "import", .rows = {{1, "{}"}, {2, "{}"}}});
    Worker{batches.work(), {.until_empty = true}}.run();
    Inspector inspector{engine};
    inspector.pause("other");
    auto id = tasks.enqueue("held", Job{1}, {.queue = "other"});
    inspector.hold({.kind = "held"}, "why not");
    inspector.retry({.kind = "held"});
    inspector.cancel({.kind = "held"});
    EXPECT_FALSE(inspector.history(id).empty());
    Worker{tasks, {.until_empty = true}}.run();
    EXPECT_EQ(inspector.count({.states = {TaskState::completed}}), 5);
    EXPECT_EQ(inspector.tasks({.queue = "default", .kind = "job"}).size(), 5u);
    EXPECT_EQ(batches.list({.app = "shop"}).size(), 1u);
    inspector.queues(), inspector.workers(), inspector.recover(), inspector.reports();
    inspector.recovery_totals(), inspector.prune(), postgres::upkeep(engine);
    EXPECT_TRUE(inspector.check_integrity(true).passed);
  }

  void expect_nothing_sprung() const {
    EXPECT_EQ(ask(connect("eve").get(), "SELECT is_called FROM public.sprung"), "f");
  }

  inline static int databases_ = 0;
  std::string name_;
};

TEST_F(PostgresNames, WhatAnotherRoleCreatedIsNotCalled) {
  use(open(direct()));
  diagnose(direct(), {.full = true});
  expect_nothing_sprung();
}

TEST_F(PostgresNames, NorInTheSchemaThatBatchesShare) {
  use(open(direct("batches=public")));
  expect_nothing_sprung();
}

TEST_F(PostgresNames, NorBehindAPooler) {
  PgBouncer pooler{server(), name_, role("owner")};
  std::optional<Engine> engine;
  std::string why;
  ASSERT_TRUE(eventually([&] {
    try {
      engine = open(pooler.address("schema=store batches=public"));
    } catch (const StoreError& error) {
      why = error.what();
    }
    return engine.has_value() || ask(connect("eve").get(), "SELECT is_called FROM sprung") == "t";
  })) << pooler.said();
  ASSERT_TRUE(engine) << why;
  use(*engine);
  expect_nothing_sprung();
}

TEST_F(PostgresNames, NorInATransactionOfTheCallerWhosePathStays) {
  auto engine = open(direct());
  auto owner = connect("owner");
  auto path = ask(owner.get(), "SHOW search_path");
  ask(owner.get(), "BEGIN");
  postgres::enqueue_all(engine, owner.get(), {{"job", R"({"n":1})"}, {"job", R"({"n":1})"}});
  EXPECT_EQ(ask(owner.get(), "SHOW search_path"), path);
  NewTask twice{"job", R"({"n":1})"};
  twice.options.after = {TaskId::make()};
  EXPECT_THROW(postgres::enqueue_all(engine, owner.get(), {twice}), InvalidRequest);
  EXPECT_EQ(ask(owner.get(), "SHOW search_path"), path) << "after an error";
  ask(owner.get(), "COMMIT");
  EXPECT_EQ(ask(owner.get(), "SHOW search_path"), path);
  EXPECT_EQ(Inspector{engine}.count({}), 2);
  Tasks tasks{engine};
  tasks.on<Job>("job", [&](const Job&, Attempt& attempt) {
    auto own = connect("owner");
    ask(own.get(), "BEGIN");
    postgres::complete(engine, own.get(), attempt);
    EXPECT_EQ(ask(own.get(), "SHOW search_path"), path);
    ask(own.get(), "COMMIT");
    return done;
  });
  Worker{tasks, {.concurrency = 1, .until_empty = true}}.run();
  EXPECT_EQ(Inspector{engine}.count({.states = {TaskState::completed}}), 2);
  expect_nothing_sprung();
}

TEST_F(PostgresNames, NorByWhatIsPrintedForPeople) {
  auto owner = connect("owner");
  ask(owner.get(), postgres::migration_text(direct("batches=public")));
  use(open(direct("batches=public")));
  expect_nothing_sprung();
}

TEST_F(PostgresNames, TemporaryTablesDoNotHideOurs) {
  PgBouncer pooler{server(), name_, role("owner")};
  ASSERT_TRUE(eventually([&] {
    try {
      open(pooler.address("schema=store"));
      return true;
    } catch (const StoreError&) {
      return false;
    }
  })) << pooler.said();
  auto path = [](const Engine& engine) {
    return postgres::store_of(engine).reader.read([](postgres::Connection& db) {
      auto row = db.run("SELECT current_setting('search_path')");
      row.next();
      return row.text(0);
    });
  };
  EXPECT_EQ(path(open(direct())), "pg_catalog, pg_temp");
  EXPECT_EQ(path(open(pooler.address("schema=store"))), "pg_catalog, pg_temp");
}

TEST_F(PostgresNames, QuestionsOfPeopleHaveALimitOfTimeAndWorkHasNone) {
  auto limit = [](postgres::Connection& db) {
    auto row = db.run("SELECT current_setting('statement_timeout')");
    row.next();
    return row.text(0);
  };
  auto usual = open(direct());
  auto& reader = postgres::store_of(usual).reader;
  EXPECT_EQ(reader.answer(limit), "30s");
  EXPECT_EQ(reader.read(limit), "0");
  EXPECT_EQ(reader.answer(limit), "30s");
  server().ask(fmt::format("ALTER ROLE {} SET statement_timeout = '90ms'", role("owner")));
  auto engine = open(direct());
  auto& strict = postgres::store_of(engine).reader;
  EXPECT_EQ(strict.answer(limit), "90ms") << "what the role says wins";
  try {
    strict.answer([](postgres::Connection& db) { db.run("SELECT pg_sleep(60)::text"); });
    FAIL() << "it waited";
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), HasSubstr("statement_timeout"));
  }
  EXPECT_EQ(Inspector{engine}.count({}), 0) << "it can be asked again";
}

}  // namespace
}  // namespace holdfast::test
