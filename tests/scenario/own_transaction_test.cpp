#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <stdexcept>

#include <holdfast/holdfast.hpp>
#include <holdfast/sqlite.hpp>

#include "support/fake_attempt.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

struct Sum {
  int n = 0;
};
BOOST_DESCRIBE_STRUCT(Sum, (), (n))

/// The attempt that somebody had before the one that runs now.
class EarlierAttempt final : public FakeAttempt {
 public:
  explicit EarlierAttempt(const Attempt& now) : now_{now} {}
  TaskId task() const override { return now_.task(); }
  Token token() const override { return {now_.token().value - 1}; }

 private:
  const Attempt& now_;
};

/// A program with a table of its own in the file that has the store.
class SqliteOwnTransaction : public testing::Test {
 protected:
  SqliteOwnTransaction() {
    if (sqlite3_open(store_.database().c_str(), &db_) != SQLITE_OK)
      throw std::runtime_error{"cannot open the file"};
    sqlite3_busy_timeout(db_, 30'000);
    run("CREATE TABLE sums (n int)");
  }
  ~SqliteOwnTransaction() override { sqlite3_close(db_); }

  void run(const char* sql) {
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
      throw std::runtime_error{sqlite3_errmsg(db_)};
  }
  /// Rolls back what a handler leaves open because something failed: nobody else could write.
  struct Transaction {
    explicit Transaction(SqliteOwnTransaction& test) : db{test.db_} { test.run("BEGIN IMMEDIATE"); }
    ~Transaction() {
      if (!sqlite3_get_autocommit(db)) sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr);
    }
    sqlite3* db;
  };
  int sums() {
    int count = 0;
    auto read = [](void* into, int, char** texts, char**) {
      *static_cast<int*>(into) = std::stoi(texts[0]);
      return 0;
    };
    sqlite3_exec(db_, "SELECT count(*) FROM sums", read, &count, nullptr);
    return count;
  }

  TempStore store_;
  Engine engine_ = open(store_.address());
  Tasks tasks_{engine_};
  sqlite3* db_ = nullptr;
};

TEST_F(SqliteOwnTransaction, WhatTheHandlerWritesAndTheEndOfItsTaskCommitTogether) {
  tasks_.on<Sum>("sum", [&](const Sum&, Attempt& attempt) -> Outcome {
    EXPECT_THROW(sqlite::complete(engine_, db_, attempt), InvalidRequest) << "no transaction";
    Transaction transaction{*this};
    run("INSERT INTO sums VALUES (1)");
    sqlite::complete(engine_, db_, attempt, R"({"sum":1})");
    sqlite::enqueue(engine_, db_, "next", Sum{2});
    if (attempt.number() == 1) {
      run("ROLLBACK");
      return retry_in(Millis{1}, "thought better of it");
    }
    run("COMMIT");
    return done;
  });
  tasks_.on<Sum>("next", [](const Sum&, Attempt&) { return done; });
  auto id = tasks_.enqueue("sum", Sum{1});
  auto waiting = tasks_.enqueue("next", Sum{3}, {.after = {id}});
  auto summary = Worker{tasks_, {.concurrency = 1, .until_empty = true}}.run();
  EXPECT_EQ(summary.refused, 0);
  auto task = Inspector{engine_}.task(id);
  EXPECT_EQ(task->state, TaskState::completed);
  EXPECT_EQ(task->attempt, 2);
  EXPECT_EQ(task->result, R"({"sum":1})");
  EXPECT_EQ(sums(), 1);
  EXPECT_EQ(Inspector{engine_}.task(waiting)->state, TaskState::completed);
  EXPECT_EQ(Inspector{engine_}.count({.kind = "next"}), 2)
      << "one waited, one was enqueued with it";
}

TEST_F(SqliteOwnTransaction, WhatFailedIsNotThereWhereTheTransactionGoesOn) {
  {
    Transaction transaction{*this};
    sqlite::enqueue(engine_, db_, "sum", Sum{1});
    std::vector<NewTask> waits_for_nobody{{"sum", "{}"},
                                          {"sum", "{}", {.after = {TaskId::make()}}}};
    EXPECT_THROW(sqlite::enqueue_all(engine_, db_, waits_for_nobody), InvalidRequest);
    run("COMMIT");
  }
  Inspector inspector{engine_};
  EXPECT_EQ(inspector.tasks({}).size(), 1u);
  EXPECT_EQ(inspector.count({}), 1);
  EXPECT_TRUE(inspector.check_integrity(true).passed);
}

constexpr const char* five_sums =
    "INSERT INTO sums SELECT hex(randomblob(3000)) FROM (VALUES (1), (2), (3), (4), (5))";

/// More than fit into a small cache; the last may be one that cannot be enqueued.
std::vector<NewTask> large_tasks(bool and_a_bad_one = false) {
  std::vector<NewTask> tasks(200, {"sum", "\"" + std::string(2'000, 'x') + "\""});
  if (and_a_bad_one) tasks.push_back({"sum", "{}", {.after = {TaskId::make()}}});
  return tasks;
}

/// What is left for the next process if this one dies now.
int sums_after_a_crash(const TempStore& store, const std::string& name) {
  const auto copy = (store.folder() / name).string();
  for (const auto* ending : {"", "-wal"})
    std::filesystem::copy_file(store.database() + ending, copy + ending);
  sqlite3* db = nullptr;
  int count = -1;
  auto read = [](void* into, int, char** texts, char**) {
    *static_cast<int*>(into) = std::stoi(texts[0]);
    return 0;
  };
  sqlite3_open(copy.c_str(), &db);
  sqlite3_exec(db, "SELECT count(*) FROM sums", read, &count, nullptr);
  sqlite3_close(db);
  return count;
}

TEST_F(SqliteOwnTransaction, WhatFailedLeavesALogThatCanBeReadAfterACrash) {
  run("PRAGMA cache_size=10");
  {
    Transaction transaction{*this};
    sqlite::enqueue(engine_, db_, "sum", Sum{1});
    run("COMMIT");
  }
  // Pages that are in the log already would be written once more after they were rolled back.
  for (int round = 1; round <= 20; ++round) {
    Transaction transaction{*this};
    run(five_sums);
    if (round % 2 == 0) sqlite::enqueue_all(engine_, db_, large_tasks());
    EXPECT_THROW(sqlite::enqueue_all(engine_, db_, large_tasks(true)), InvalidRequest);
    run(five_sums);
    run("UPDATE sums SET n = hex(randomblob(3000)) WHERE rowid % 3 = 0");
    run("COMMIT");
    ASSERT_EQ(sums_after_a_crash(store_, "copy-" + std::to_string(round)), 10 * round);
  }
  EXPECT_TRUE(Inspector{engine_}.check_integrity(true).passed);
}

TEST_F(SqliteOwnTransaction, ATransactionThatSpilledBeforeItJoinedIsRolledBackAsAWhole) {
  run("PRAGMA cache_size=10");
  {
    Transaction transaction{*this};
    for (int i = 0; i < 10; ++i) run(five_sums);
    EXPECT_THROW(sqlite::enqueue_all(engine_, db_, large_tasks(true)), InvalidRequest);
    EXPECT_TRUE(sqlite3_get_autocommit(db_)) << "nothing of it can be kept";
  }
  EXPECT_EQ(sums(), 0);
  {
    Transaction transaction{*this};
    run(five_sums);
    sqlite::enqueue_all(engine_, db_, large_tasks());
    run("COMMIT");
  }
  EXPECT_EQ(sums_after_a_crash(store_, "copy"), 5);
  EXPECT_TRUE(Inspector{engine_}.check_integrity(true).passed);
}

TEST_F(SqliteOwnTransaction, StaleAttemptIsRefused) {
  bool refused = false;
  tasks_.on<Sum>("sum", [&](const Sum&, Attempt& attempt) {
    EarlierAttempt stale{attempt};
    Transaction transaction{*this};
    run("INSERT INTO sums VALUES (1)");
    try {
      sqlite::complete(engine_, db_, stale);
    } catch (const LeaseLost&) {
      refused = true;
    }
    run("ROLLBACK");
    return done;
  });
  auto id = tasks_.enqueue("sum", Sum{1});
  Worker{tasks_, {.concurrency = 1, .until_empty = true}}.run();
  EXPECT_TRUE(refused);
  EXPECT_EQ(sums(), 0);
  EXPECT_EQ(Inspector{engine_}.task(id)->state, TaskState::completed);
}

}  // namespace
}  // namespace holdfast::test
