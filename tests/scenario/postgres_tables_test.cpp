#include <gmock/gmock.h>

#include <fstream>

#include <holdfast/batches.hpp>
#include <holdfast/holdfast.hpp>
#include <holdfast/postgres.hpp>

#include "support/postgres_server.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

struct Job {
  int n = 0;
};
BOOST_DESCRIBE_STRUCT(Job, (), (n))

/// Who makes the tables, and what roles that did not may do.
class PostgresTables : public testing::Test {
 protected:
  PostgresServer& server() { return PostgresServer::shared(); }
  std::string schema() const { return address_.substr(address_.rfind('=') + 1); }

  std::string address_ = PostgresServer::shared().new_store();
  TempStore folder_;
};

TEST_F(PostgresTables, RoleThatMayOnlyUseNeedsSomebodyToMakeTheTables) {
  server().ask("CREATE ROLE " + schema() + "_user LOGIN");
  auto as_user = server().address("user=" + schema() + "_user schema=" + schema());
  try {
    open(as_user);
    FAIL() << "it was opened";
  } catch (const StoreUnusable& error) {
    EXPECT_THAT(error.what(), HasSubstr("holdfast migrate"));
  }
  EXPECT_EQ(postgres::migrate(address_).before, 0);
  EXPECT_EQ(postgres::migrate(address_).before, postgres::migrate(address_).now);
  try {
    open(as_user);
    FAIL() << "it was opened";
  } catch (const StoreUnusable& error) {
    EXPECT_THAT(error.what(), HasSubstr("Grant this role USAGE on schema " + schema()));
  }
  server().ask("GRANT USAGE ON SCHEMA " + schema() + " TO " + schema() + "_user");
  server().ask("GRANT SELECT ON ALL TABLES IN SCHEMA " + schema() + " TO " + schema() + "_user");
  auto looking = open(as_user);
  EXPECT_EQ(looking.run_level(), RunLevel::read_only);
  EXPECT_THAT(Inspector{looking}.why_read_only(), HasSubstr("INSERT"));
  EXPECT_THROW(Tasks{looking}.enqueue("job", Job{1}), StoreReadOnly);
  server().ask("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA " + schema() + " TO " +
               schema() + "_user");
  auto engine = open(as_user);
  Tasks tasks{engine};
  tasks.on<Job>("job", [](const Job&, Attempt&) { return done; });
  tasks.enqueue("job", Job{1});
  Worker{tasks, {.until_empty = true}}.run();
  EXPECT_EQ(Inspector{engine}.count({.states = {TaskState::completed}}), 1);
  server().ask("GRANT USAGE ON ALL SEQUENCES IN SCHEMA " + schema() + " TO " + schema() + "_user");
  NewBatch batch{.app = "a", .op = "b", .rows = {{1, "{}"}}};
  batch.file = BatchFile{.name = "rows.jsonl", .checksum = "1"};
  EXPECT_TRUE(Batches{engine}.submit(batch).created);
  EXPECT_FALSE(postgres::upkeep(engine)->sees_others);
  server().ask("GRANT pg_read_all_stats TO " + schema() + "_user");
  EXPECT_TRUE(postgres::upkeep(engine)->sees_others);
}

TEST_F(PostgresTables, WhatIsPrintedForAnEmptyDatabaseMakesTheTables) {
  auto script = folder_.folder() / "tables.sql";
  std::ofstream{script} << postgres::migration_text(address_);
  // Statement by statement, as people run it.
  auto made = test::run({"/usr/bin/env", "psql", "--quiet", "-v", "ON_ERROR_STOP=1", "-d",
                         server().connection(), "-f", script.string()});
  ASSERT_TRUE(made.ending.ok()) << made.err;
  EXPECT_EQ(postgres::migrate(address_).before, postgres::migrate(address_).now);
  auto engine = open(address_);
  Tasks{engine}.enqueue("job", Job{1});
  EXPECT_EQ(Inspector{engine}.count({}), 1);
}

}  // namespace
}  // namespace holdfast::test
