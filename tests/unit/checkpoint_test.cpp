#include "engines/sqlite/checkpoint.hpp"

#include <sqlite3.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "engines/sqlite/connection.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using sqlite::Connection;

class Checkpoint : public testing::Test {
 protected:
  Checkpoint() { db_.execute("CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000))"); }
  auto database_bytes() const { return std::filesystem::file_size(folder_.database()); }
  auto log_bytes() const { return std::filesystem::file_size(folder_.database() + "-wal"); }

  TempStore folder_;
  Connection db_{folder_.database(), Connection::Mode::read_write, Durability::crash_safe};
};

TEST_F(Checkpoint, EmptiesTheLog) {
  EXPECT_EQ(sqlite::checkpoint_and_truncate(db_.handle(), 0ms), SQLITE_OK);
  EXPECT_GT(database_bytes(), 100'000U);
  EXPECT_EQ(log_bytes(), 0U);
}

TEST_F(Checkpoint, CopiesNothingBesideAWriter) {
  Connection writer{folder_.database(), Connection::Mode::read_write, Durability::crash_safe};
  writer.execute("BEGIN IMMEDIATE");
  EXPECT_EQ(sqlite::checkpoint_and_truncate(db_.handle(), 20ms), SQLITE_BUSY);
  EXPECT_LT(database_bytes(), 100'000U);
  writer.execute("ROLLBACK");
  EXPECT_EQ(sqlite::checkpoint_and_truncate(db_.handle(), 20ms), SQLITE_OK);
}

}  // namespace
}  // namespace holdfast::test
