#include "engines/sqlite/schema.hpp"

#include <gmock/gmock.h>

#include <holdfast/holdfast.hpp>

#include "engines/sqlite/check_integrity.hpp"
#include "engines/sqlite/open_read_only.hpp"
#include "support/old_store.hpp"
#include "support/temp_store.hpp"

namespace holdfast::sqlite {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class SchemaTest : public testing::Test {
 protected:
  Connection connect() {
    return Connection{store_.database(), Connection::Mode::read_write, Durability::crash_safe};
  }
  static std::vector<std::string> damage_of(Connection& db) {
    std::vector<std::string> found;
    find_schema_damage(db, [&](std::string what) { found.push_back(std::move(what)); });
    return found;
  }
  void note_version(Connection& db, int version) {
    db.use("UPDATE holdfast_meta SET value = ? WHERE key = 'schema_version'").bind(version).run();
  }

  test::TempStore store_;
};

TEST_F(SchemaTest, ANewStoreIsWhatTheStepsMake) {
  open(store_.address());
  auto db = connect();
  EXPECT_EQ(noted_version(db), schema_version);
  EXPECT_EQ(version_of_tables(db), schema_version);
  EXPECT_EQ(known_version(db, "it"), schema_version);
  EXPECT_FALSE(has_unknown_parts(db));
}

TEST_F(SchemaTest, EveryVersionHasTablesOfItsOwn) {
  Connection db{":memory:", Connection::Mode::read_write, Durability::crash_safe};
  EXPECT_EQ(version_of_tables(db), 0);
  for (const auto& step : schema_steps()) {
    db.execute(std::string{step.sql});
    EXPECT_EQ(version_of_tables(db), step.version);
    EXPECT_FALSE(has_unknown_parts(db));
    EXPECT_THAT(damage_of(db), IsEmpty());
  }
}

TEST_F(SchemaTest, StoresThatEarlierVersionsMadeAreSound) {
  test::put_old_store(store_.database());
  auto db = connect();
  EXPECT_EQ(version_of_tables(db), 4) << "a step is never changed, not even a comment in it";
  EXPECT_EQ(known_version(db, "it"), 4);
  auto check = check_integrity(db, {.full = true});
  EXPECT_TRUE(check.passed) << check.damage.front().what;
  EXPECT_EQ(check.rows_checked, 12);
}

TEST_F(SchemaTest, AStoreOfAnEarlierVersionCanBeReadAsIfItWereOfThisOne) {
  test::put_old_store(store_.database());
  auto db = open_read_only(store_.database(), Durability::crash_safe);
  auto rows = db->use("SELECT state, sum FROM holdfast_transactions ORDER BY task");
  ASSERT_TRUE(rows.step());
  EXPECT_EQ(rows.text(0), "paid");
  EXPECT_EQ(rows.integer(1), 0);
  EXPECT_TRUE(check_integrity(*db, {.full = true}).passed);
  EXPECT_EQ(db->number("SELECT count(sum) FROM holdfast_transactions"), 2)
      << "after a check as before it";
  EXPECT_EQ(version_of_tables(*db), 4);
}

TEST_F(SchemaTest, ACheckLeavesNothingInItsWay) {
  test::put_old_store(store_.database());
  auto db = connect();
  EXPECT_TRUE(check_integrity(db, {}).passed);
  upgrade_tables(db, 4);
  EXPECT_EQ(db.number("SELECT count(sum) FROM holdfast_transactions"), 2);
  db.execute("UPDATE holdfast_transactions SET sum = 1");
}

TEST_F(SchemaTest, ANumberThatIsWrongByOneBitIsNotBelieved) {
  open(store_.address());
  auto db = connect();
  note_version(db, schema_version ^ 64);
  EXPECT_EQ(known_version(db, "it"), schema_version) << "the tables say which";
  auto damage = check_integrity(db, {}).damage;
  ASSERT_THAT(damage, SizeIs(1));
  EXPECT_THAT(damage.front().what, HasSubstr("said to be of"));
  db.execute("CREATE TABLE holdfast_shiny (a)");
  EXPECT_THROW(known_version(db, "it"), StoreUnusable) << "a newer version has more";
}

TEST_F(SchemaTest, ANumberThatIsGoneIsWhatTheTablesSay) {
  test::put_old_store(store_.database());
  auto db = connect();
  for (int lost : {0, 1, 5}) {
    note_version(db, lost);
    EXPECT_EQ(known_version(db, "it"), lost == schema_version ? lost : 4);
    EXPECT_FALSE(check_integrity(db, {}).passed);
  }
  db.execute("DELETE FROM holdfast_meta WHERE key = 'schema_version'");
  EXPECT_EQ(known_version(db, "it"), 4);
}

TEST_F(SchemaTest, AStoreFromBeforeTheOldestStepIsRefused) {
  open(store_.address());
  auto db = connect();
  db.execute("DROP TABLE holdfast_metrics");
  note_version(db, 3);
  EXPECT_THROW(known_version(db, "it"), StoreUnusable);
}

TEST_F(SchemaTest, ATableThatIsNotAsItWasMadeIsFound) {
  open(store_.address());
  auto db = connect();
  db.execute("ALTER TABLE holdfast_paused RENAME COLUMN actor TO action");
  EXPECT_EQ(version_of_tables(db), 0);
  EXPECT_THAT(damage_of(db), SizeIs(1));
  EXPECT_FALSE(check_integrity(db, {}).passed);
}

}  // namespace
}  // namespace holdfast::sqlite
