#include "engines/sqlite/repair.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <holdfast/holdfast.hpp>

#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/mapped_file.hpp"
#include "engines/sqlite/page_file.hpp"
#include "engines/sqlite/schema.hpp"
#include "support/old_store.hpp"
#include "support/temp_store.hpp"
#include "tasks/engine_parts.hpp"
#include "transactions/transaction_store.hpp"

namespace holdfast::sqlite {
namespace {

using How = Repair::How;
using testing::IsEmpty;
using testing::SizeIs;

/// A store of 200 pending tasks that nobody has open.
class RepairTest : public testing::Test {
 protected:
  void SetUp() override {
    {
      auto engine = open(store_.address());
      std::vector<NewTask> some;
      for (int i = 0; i < 200; ++i) some.push_back({"mail", fmt::format("\"number {}\"", i)});
      ids_ = Tasks{engine}.enqueue_all(std::move(some));
    }
    Connection db{store_.database(), Connection::Mode::read_write, Durability::crash_safe};
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  std::uint32_t root_of(const char* name) {
    Connection db{store_.database(), Connection::Mode::read_only, Durability::crash_safe};
    Connection::Once query{db, "SELECT rootpage FROM sqlite_schema WHERE name = ?"};
    query->bind(std::string_view{name});
    return query->step() ? static_cast<std::uint32_t>(query->integer(0)) : 0;
  }

  /// The first leaf of a tree, and where in the file its first cell begins.
  struct Leaf {
    std::uint32_t page = 0;
    std::size_t first_cell = 0;
    std::size_t rows = 0;
  };
  Leaf leaf_of(const char* name) {
    MappedFile bytes{store_.database()};
    PageFile file{bytes.bytes()};
    auto number = root_of(name);
    auto page = file.tree_page(number);
    while (!page->is_leaf()) {
      number = file.cell(number, *page, page->cells[0])->child;
      page = file.tree_page(number);
    }
    return {number, (number - 1) * std::size_t{4096} + page->cells[0], page->cells.size()};
  }

  void write(std::size_t at, const std::string& bytes) {
    std::fstream file{store_.database(), std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(static_cast<std::streamoff>(at));
    file << bytes;
  }
  void flip(std::size_t at, int mask) {
    std::ifstream file{store_.database(), std::ios::binary};
    file.seekg(static_cast<std::streamoff>(at));
    auto byte = file.get();
    write(at, std::string(1, static_cast<char>(byte ^ mask)));
  }

  Repair mend() { return repair(store_.database(), SideFiles{store_.database()}); }
  std::int64_t count(TaskState state) {
    return Inspector{open(store_.address())}.count({.states = {state}});
  }

  test::TempStore store_;
  std::vector<TaskId> ids_;
};

TEST_F(RepairTest, OneBitOfTheVersionIsPutRight) {
  {
    Connection db{store_.database(), Connection::Mode::read_write, Durability::crash_safe};
    db.execute("UPDATE holdfast_meta SET value = value + 8 WHERE key = 'schema_version'");
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  auto engine = open(store_.address());
  EXPECT_EQ(Inspector{engine}.count({}), 200);
  EXPECT_TRUE(Inspector{engine}.check_integrity(true).passed);
}

TEST_F(RepairTest, WrongCountsAreCountedAnew) {
  {
    Connection db{store_.database(), Connection::Mode::read_write, Durability::crash_safe};
    db.execute("UPDATE holdfast_counts SET tasks = 7");
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  auto repaired = mend();
  EXPECT_EQ(repaired.how, How::corrected);
  EXPECT_THAT(repaired.losses, IsEmpty());
  auto engine = open(store_.address());
  EXPECT_EQ(Inspector{engine}.count({}), 200);
  EXPECT_EQ(Inspector{engine}.queues().at(0).counts[0], 200);
}

TEST_F(RepairTest, LeavesASoundStoreAlone) {
  auto done = mend();
  EXPECT_EQ(done.how, How::nothing);
  EXPECT_TRUE(done.kept_aside.empty());
}

TEST_F(RepairTest, MakesADamagedIndexAnew) {
  // The last byte of a page belongs to the entry that was made first: the number of its task.
  flip(leaf_of("holdfast_ready").page * std::size_t{4096} - 1, 64);
  auto done = mend();
  EXPECT_EQ(to_string(done.how), "reindexed");
  EXPECT_THAT(done.losses, IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(done.kept_aside));
  EXPECT_EQ(count(TaskState::pending), 200);
  EXPECT_EQ(mend().how, How::nothing);
}

TEST_F(RepairTest, LosesNothingWithAPageOfAnIndex) {
  auto leaf = leaf_of("holdfast_ready");
  write((leaf.page - 1) * std::size_t{4096}, std::string(4096, '\0'));
  EXPECT_THAT(mend().losses, IsEmpty());
  EXPECT_EQ(count(TaskState::pending), 200);
}

TEST_F(RepairTest, TurnsBackOneBitOfATask) {
  flip(leaf_of("holdfast_tasks").first_cell + 60, 4);
  auto done = mend();
  EXPECT_EQ(done.how, How::rebuilt);
  EXPECT_THAT(done.losses, IsEmpty());
  EXPECT_THAT(done.mended, SizeIs(1));
  EXPECT_EQ(count(TaskState::pending), 200);
}

TEST_F(RepairTest, TurnsBackOneBitOfALength) {
  flip(leaf_of("holdfast_tasks").first_cell, 8);
  auto done = mend();
  EXPECT_THAT(done.losses, IsEmpty());
  EXPECT_EQ(count(TaskState::pending), 200);
}

TEST_F(RepairTest, ADamagedScheduleDoesNotFireAndIsNamed) {
  {
    auto engine = open(store_.address());
    Schedules schedules{engine};
    for (auto name : {"bad", "good"})
      schedules.add({.name = name, .cron = "@daily", .task = {"mail", "{}"}});
    Connection db{store_.database(), Connection::Mode::read_write, Durability::crash_safe};
    db.execute("UPDATE holdfast_schedules SET payload = '[]', next = 1 WHERE name = 'bad'");
    EXPECT_THAT(schedules.list(), SizeIs(1));
    EXPECT_THAT(engine.parts().schedules().due(WallTime::max(), 10), SizeIs(1));
  }
  auto done = mend();
  ASSERT_THAT(done.losses, SizeIs(1));
  EXPECT_EQ(done.losses[0].what, "Schedule 'bad' was damaged on disk and is gone: add it again.");
  auto left = Schedules{open(store_.address())}.list();
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(left[0].name, "good");
  EXPECT_EQ(mend().how, How::nothing);
}

TEST_F(RepairTest, HoldsATaskWhosePayloadIsDamaged) {
  MappedFile bytes{store_.database()};
  std::string_view text{reinterpret_cast<const char*>(bytes.bytes().data()), bytes.bytes().size()};
  write(text.find("\"number 7\""), "[12, 13 ]");
  auto done = mend();
  ASSERT_THAT(done.losses, SizeIs(1));
  EXPECT_EQ(done.losses[0].task, ids_[7]);
  auto engine = open(store_.address());
  EXPECT_EQ(Inspector{engine}.task(ids_[7])->state, TaskState::held);
  EXPECT_FALSE(engine.parts().take_start_up()->kept_aside.size() > 0) << "known by now";
}

TEST_F(RepairTest, NamesTheTasksOfALostPage) {
  auto leaf = leaf_of("holdfast_tasks");
  write((leaf.page - 1) * std::size_t{4096}, std::string(4096, '\0'));
  auto done = mend();
  EXPECT_EQ(done.how, How::salvaged);
  EXPECT_THAT(done.losses, SizeIs(leaf.rows));
  for (std::size_t i = 0; i < done.losses.size(); ++i) {
    EXPECT_EQ(done.losses[i].kind, Damage::Kind::lost);
    EXPECT_TRUE(done.losses[i].task);
  }
  EXPECT_EQ(count(TaskState::pending), 200 - static_cast<std::int64_t>(leaf.rows));
}

TEST_F(RepairTest, ReplacesNothingUnderAForeignConnection) {
  auto leaf = leaf_of("holdfast_ready");
  write((leaf.page - 1) * std::size_t{4096}, std::string(4096, '\0'));
  {
    Connection foreign{store_.database(), Connection::Mode::read_only, Durability::crash_safe};
    foreign.number("SELECT count(*) FROM sqlite_schema");
    EXPECT_THROW(mend(), StoreError);
  }
  EXPECT_EQ(mend().how, How::rebuilt);
}

TEST_F(RepairTest, KeepsWhatBelongsToTheUser) {
  {
    Connection db{store_.database(), Connection::Mode::read_write, Durability::crash_safe};
    db.execute(
        "CREATE TABLE notes (text TEXT, n REAL); CREATE INDEX by_text ON notes (text);"
        "CREATE VIEW short AS SELECT text FROM notes;"
        "CREATE TABLE log (note TEXT);"
        "CREATE TRIGGER logging AFTER INSERT ON notes BEGIN"
        " INSERT INTO log VALUES (new.text); END;"
        "INSERT INTO notes VALUES ('one', 1), ('two', 2.5); DELETE FROM notes WHERE text = 'one';"
        "PRAGMA user_version = 42; PRAGMA wal_checkpoint(TRUNCATE)");
  }
  flip(leaf_of("holdfast_tasks").first_cell + 60, 4);
  EXPECT_EQ(mend().how, How::rebuilt);
  Connection db{store_.database(), Connection::Mode::read_write, Durability::crash_safe};
  EXPECT_EQ(db.number("SELECT rowid FROM notes WHERE n = 2.5"), 2);
  EXPECT_EQ(db.number("SELECT count(*) FROM short"), 1);
  EXPECT_EQ(db.number("SELECT count(*) FROM notes INDEXED BY by_text WHERE text = 'two'"), 1);
  EXPECT_EQ(db.number("PRAGMA user_version"), 42);
  EXPECT_EQ(db.number("SELECT count(*) FROM log"), 2) << "triggers do not run while copying";
}

TEST_F(RepairTest, KeepsMessages) {
  {
    Connection db{store_.database(), Connection::Mode::read_write, Durability::crash_safe};
    db.execute(
        "INSERT INTO holdfast_outbox (task, queue, id, headers, body)"
        " VALUES (1, 'out', 'a', '{}', x'00ff61');"
        "INSERT INTO holdfast_queues (name, created_at) VALUES ('in', 1);"
        "INSERT INTO holdfast_messages (queue, id, headers, bytes, body, file, deliveries)"
        " VALUES (1, 'b', '{}', 0, x'', NULL, 0), (1, 'c', '{}', 9, NULL, 'c', 1);"
        "PRAGMA wal_checkpoint(TRUNCATE)");
  }
  flip(leaf_of("holdfast_tasks").first_cell + 60, 4);
  auto done = mend();
  EXPECT_EQ(done.how, How::rebuilt);
  EXPECT_THAT(done.losses, IsEmpty());
  Connection db{store_.database(), Connection::Mode::read_only, Durability::crash_safe};
  EXPECT_EQ(db.number("SELECT count(*) FROM holdfast_outbox WHERE body = x'00ff61'"), 1);
  EXPECT_EQ(db.number("SELECT count(*) FROM holdfast_messages WHERE body = x''"), 1);
  EXPECT_EQ(db.number("SELECT count(*) FROM holdfast_messages WHERE body IS NULL"), 1);
}

/// A transaction that waits for its next step, in a store that is not open.
class RepairOfTransactions : public RepairTest {
 protected:
  void SetUp() override {
    RepairTest::SetUp();
    auto engine = open(store_.address());
    auto worker = engine.parts().workers().enlist(WorkerProfile{{}, {"mail"}, 1, Millis{90'000}});
    auto claimed = engine.parts().tasks().exchange(
        {.claim = ClaimRequest{.worker = worker->id(), .kinds = {"mail"}, .limit = 1}});
    auto lease = claimed.claimed.at(0).lease;
    engine.parts().transactions().step(Step{
        .lease = lease, .from = "placed", .to = "paid", .data = R"("the receipt of number one")"});
    Exchange back;
    back.settle.push_back({.lease = lease, .to = TaskState::pending, .attempt = 0});
    engine.parts().tasks().exchange(back);
    Connection db{store_.database(), Connection::Mode::read_write, Durability::crash_safe};
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  std::size_t place_of(std::string_view text) {
    MappedFile bytes{store_.database()};
    std::string_view all{reinterpret_cast<const char*>(bytes.bytes().data()), bytes.bytes().size()};
    return all.find(text);
  }
  std::int64_t sound_rows() {
    Connection db{store_.database(), Connection::Mode::read_only, Durability::crash_safe};
    return db.number(
        "SELECT count(*) FROM holdfast_transactions WHERE data = '\"the receipt of number one\"'");
  }
};

TEST_F(RepairOfTransactions, TurnsBackOneBit) {
  flip(place_of("receipt of number one"), 1);
  auto done = mend();
  EXPECT_EQ(done.how, How::rebuilt);
  EXPECT_THAT(done.losses, IsEmpty());
  EXPECT_THAT(done.mended, SizeIs(1));
  EXPECT_EQ(sound_rows(), 1);
  EXPECT_EQ(count(TaskState::pending), 200);
}

TEST_F(RepairOfTransactions, HoldsATransactionThatIsDamaged) {
  write(place_of("receipt of number one"), "RECEIPT");
  auto done = mend();
  EXPECT_EQ(done.how, How::rebuilt);
  ASSERT_THAT(done.losses, SizeIs(1));
  EXPECT_EQ(done.losses[0].task, ids_[0]);
  EXPECT_EQ(count(TaskState::held), 1);
  EXPECT_EQ(mend().how, How::nothing);
}

/// A store whose rows are from an earlier version, and have fewer values.
class RepairOfOldRows : public RepairTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    test::put_old_store(store_.database());
    if (is_upgraded()) open(store_.address());
    Connection db{store_.database(), Connection::Mode::read_write, Durability::crash_safe};
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    ASSERT_EQ(version_of_tables(db), is_upgraded() ? schema_version : 4);
  }
  static bool is_upgraded() { return GetParam(); }
};

TEST_P(RepairOfOldRows, FillsInWhatTheyDoNotHave) {
  flip(leaf_of("holdfast_tasks").first_cell + 60, 4);
  auto done = mend();
  EXPECT_EQ(done.how, How::rebuilt);
  EXPECT_THAT(done.losses, IsEmpty());
  Connection db{store_.database(), Connection::Mode::read_only, Durability::crash_safe};
  EXPECT_EQ(version_of_tables(db), schema_version);
  EXPECT_EQ(noted_version(db), schema_version);
  EXPECT_EQ(db.number("SELECT count(*) FROM holdfast_tasks"), 12);
  EXPECT_EQ(db.number("SELECT count(*) FROM holdfast_transactions WHERE sum = 0"), 2);
  EXPECT_EQ(db.number("SELECT count(*) FROM holdfast_moves"), 2);
}

INSTANTIATE_TEST_SUITE_P(Each, RepairOfOldRows, testing::Bool(), [](const auto& upgraded) {
  return std::string{upgraded.param ? "Upgraded" : "AsTheyWere"};
});

TEST_F(RepairTest, AStoreThatIsDamagedIsMendedBeforeItIsUpgraded) {
  test::put_old_store(store_.database());
  Connection{store_.database(), Connection::Mode::read_write, Durability::crash_safe}.execute(
      "PRAGMA wal_checkpoint(TRUNCATE)");
  flip(leaf_of("holdfast_tasks").first_cell + 60, 4);
  auto engine = open(store_.address());
  EXPECT_EQ(engine.parts().run_level(), RunLevel::normal);
  EXPECT_EQ(Inspector{engine}.count({}), 12);
  EXPECT_TRUE(Inspector{engine}.check_integrity(true).passed);
}

TEST_F(RepairTest, SaysSoWhereNothingIsLeft) {
  std::filesystem::resize_file(store_.database(), 0);
  write(0, std::string(20'000, 'x'));
  EXPECT_THROW(mend(), StoreUnusable);
  EXPECT_EQ(std::filesystem::file_size(store_.database()), 20'000U);
}

}  // namespace
}  // namespace holdfast::sqlite
