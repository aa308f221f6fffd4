#include <signal.h>

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "engines/sqlite/check_integrity.hpp"
#include "engines/sqlite/open_lock.hpp"
#include "engines/sqlite/schema.hpp"
#include "engines/sqlite/upgrade.hpp"
#include "scenario/cli_scenario.hpp"
#include "scenario/store_files.hpp"
#include "support/old_store.hpp"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using sqlite::Connection;
using sqlite::schema_version;
using testing::AnyOf;
using testing::Eq;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int old_version = 4;
constexpr std::size_t old_tasks = 12;

/// A store that the version before wrote.
class Upgrade : public CliScenario {
 protected:
  void SetUp() override { put_old_store(store_.database(), old_version); }

  std::string copy() const { return sqlite::backup_name(store_.database(), old_version); }
  static std::int64_t version_of(const std::string& file) {
    Connection db{file, Connection::Mode::read_only, {}};
    auto noted = sqlite::noted_version(db);
    EXPECT_EQ(sqlite::version_of_tables(db), noted);
    return noted;
  }
  void expect_backup() const {
    EXPECT_EQ(version_of(copy()), old_version);
    Connection db{copy(), Connection::Mode::read_only, {}};
    EXPECT_TRUE(sqlite::check_integrity(db, {.full = true}).passed);
  }
  void expect_upgraded() const {
    EXPECT_EQ(version_of(store_.database()), schema_version);
    expect_backup();
    EXPECT_THAT(json({"task", "list"}), SizeIs(old_tasks));
    ok({"task", "add", "mail"});
    EXPECT_EQ(cli({"doctor"}).ending.code, 0);
  }
  /// Files that were put beside the store: backups, also unfinished ones.
  std::vector<std::string> others() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator{store_.folder()})
      if (auto name = entry.path().filename().string(); name.starts_with("work.db."))
        if (name != "work.db.holdfast") found.push_back(name);
    return found;
  }
};

TEST_F(Upgrade, WhoOpensItFirstMakesABackupAndChangesTheTables) {
  ok({"task", "list"});
  expect_upgraded();
  auto doctor = json({"doctor"}).at(0);
  ASSERT_THAT(doctor.at("upgrade_backups").as_array(), SizeIs(1));
  EXPECT_EQ(doctor.at("upgrade_backups").at(0).at("path").as_string(), copy());
  EXPECT_THAT(cli({"doctor"}).out, HasSubstr(copy()));
  fs::remove(copy());
  ok({"task", "list"});
  EXPECT_THAT(others(), IsEmpty()) << "once is enough";
}

TEST_F(Upgrade, KeepsEveryRow) {
  ok({"task", "list"});
  Connection db{copy(), Connection::Mode::read_write, {}};
  {
    Connection::Once attach{db, "ATTACH ? AS upgraded"};
    attach->bind(store_.database()).run();
  }
  auto tables = db.use(
      "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name LIKE 'holdfast%'"
      " AND name NOT IN ('holdfast_meta')");
  int compared = 0;
  for (; tables.step(); ++compared) {
    Connection::Once columns{db, "SELECT group_concat(name) FROM pragma_table_info(?, 'main')"};
    ASSERT_TRUE(columns->bind(tables.text(0)).step());
    Connection::Once gone{db,
                          fmt::format("SELECT count(*) FROM (SELECT {0} FROM main.{1} EXCEPT SELECT"
                                      " {0} FROM upgraded.{1})",
                                      columns->text(0), tables.text(0))};
    gone->step();
    EXPECT_EQ(gone->integer(0), 0) << tables.text(0);
  }
  EXPECT_GT(compared, 20);
}

TEST_F(Upgrade, WorkGoesOn) {
  auto running = json({"task", "list", "--status", "running"}).at(0);
  EXPECT_EQ(cli({"worker", "run", "--kind", "mail", "--kind", "running", "--exec", "true",
                 "--until-empty"})
                .ending.code,
            0);
  EXPECT_EQ(state_of(std::string{running.at("id").as_string()}), "completed")
      << "its worker was dead before";
  EXPECT_THAT(json({"batch", "list"}), SizeIs(1));
  EXPECT_THAT(json({"schedule", "list"}), SizeIs(1));
  EXPECT_THAT(json({"limit", "list"}), SizeIs(1));
  EXPECT_THAT(json({"tx", "list"}), SizeIs(2));
}

TEST_F(Upgrade, ABackupOfTheVersionBeforeIsRestored) {
  fs::rename(store_.database(), store_.folder() / "backup.db");
  ok({"restore", store_.folder() / "backup.db"});
  EXPECT_EQ(version_of(store_.database()), schema_version);
  EXPECT_THAT(json({"task", "list"}), SizeIs(old_tasks));
  EXPECT_THAT(others(), IsEmpty()) << "nothing of that version was there";
}

/// As if a program of the version before had the store open.
class UpgradeInUse : public Upgrade {
 protected:
  UpgradeInUse() { put_old_store(store_.database(), old_version); }
  void SetUp() override {
    lock_.emplace(sqlite::SideFiles{store_.database()}, std::nullopt);
    lock_->ready();
  }
  std::optional<sqlite::OpenLock> lock_;
};

TEST_F(UpgradeInUse, IsShownAndNotWrittenUntilTheOthersAreGone) {
  const auto before = StoreFile{store_.database()}.read();
  EXPECT_THAT(json({"task", "list"}), SizeIs(old_tasks));
  EXPECT_THAT(json({"tx", "list"}), SizeIs(2));
  const std::vector<std::pair<int, std::vector<std::string>>> commands{
      {3, {"task", "add", "mail"}},
      {4, {"queue", "recover"}},
      {4, {"worker", "run", "--kind", "mail", "--exec", "true"}},
      {3, {"doctor"}}};
  for (const auto& [code, command] : commands) {
    const auto done = cli(command);
    EXPECT_EQ(done.ending.code, code) << command.front();
    EXPECT_THAT(done.err + done.out,
                HasSubstr(fmt::format("has tables of schema {}, and this program works with "
                                      "schema {}",
                                      old_version, schema_version)));
    EXPECT_THAT(done.err + done.out, HasSubstr(fmt::format("process {} (", ::getpid())));
  }
  EXPECT_EQ(StoreFile{store_.database()}.read(), before);
  EXPECT_THAT(others(), IsEmpty());
  lock_.reset();
  ok({"task", "list"});
  expect_upgraded();
}

TEST_F(UpgradeInUse, AStoreOfANewerVersionIsNotTouched) {
  lock_.reset();
  {
    Connection db{store_.database(), Connection::Mode::read_write, {}};
    sqlite::upgrade_tables(db, old_version);
    db.execute(
        "CREATE TABLE holdfast_shiny (a);"
        "UPDATE holdfast_meta SET value = value + 1 WHERE key = 'schema_version';"
        "PRAGMA wal_checkpoint(TRUNCATE)");
  }
  const auto before = StoreFile{store_.database()}.read();
  const std::vector<std::vector<std::string>> commands{
      {"task", "list"},
      {"task", "add", "mail"},
      {"worker", "run", "--kind", "mail", "--exec", "true"}};
  for (const auto& command : commands) {
    const auto done = cli(command);
    EXPECT_EQ(done.ending.code, 4);
    EXPECT_THAT(done.err, HasSubstr(fmt::format("newer Holdfast (schema {}, this program knows {})",
                                                schema_version + 1, schema_version)));
  }
  EXPECT_EQ(StoreFile{store_.database()}.read(), before);
  EXPECT_THAT(others(), IsEmpty());
}

/// On a disk of 12 MB, in a mount namespace of its own, of which too little is left.
constexpr const char* upgrade_without_room = R"sh(
set -u
mkdir "$1/disk"
mount -t tmpfs -o size=12m tmpfs "$1/disk"
cp "$1/work.db" "$1/disk/work.db"
cd "$1/disk"
head -c 11000000 /dev/zero >filler
"$2" --json task list | wc -l
"$2" --json tx list | wc -l
"$2" task add mail; echo "added with $?"
"$2" worker run --kind mail --exec true; echo "worked with $?"
"$2" doctor; echo "looked with $?"
cmp work.db "$1/work.db" && echo "not changed"
ls work.db.schema-* 2>/dev/null
rm filler
"$2" task add mail >/dev/null && ls work.db.schema-*
)sh";

TEST_F(Upgrade, WithoutRoomForTheBackupItIsShownAndNotWritten) {
  const auto done = run({"/usr/bin/unshare", "--mount", "--map-root-user", "/bin/sh", "-c",
                         upgrade_without_room, "sh", store_.folder().string(), HOLDFAST_PROGRAM},
                        {{"HOLDFAST_STORE", "sqlite:work.db"}});
  EXPECT_THAT(done.out, testing::StartsWith(fmt::format("{}\n2\nadded with 3\n", old_tasks)));
  EXPECT_THAT(done.out, HasSubstr("worked with 3"));
  EXPECT_THAT(done.out, HasSubstr("looked with 3"));
  EXPECT_THAT(done.out, HasSubstr("not changed"));
  EXPECT_THAT(done.out, testing::EndsWith("\nwork.db.schema-4\n"));
  EXPECT_THAT(done.err, HasSubstr("There is no room for the backup"));
  EXPECT_THAT(done.err, HasSubstr("Free some space, then start again"));
}

class KilledUpgrade : public Upgrade, public testing::WithParamInterface<const char*> {
 protected:
  void kill() {
    const auto done = run({HOLDFAST_PROGRAM, "--store", store_.address(), "task", "list"},
                          {{"HOLDFAST_KILL_AT", GetParam()}});
    ASSERT_EQ(done.ending.signal, SIGKILL) << GetParam() << " was not reached";
  }
};

TEST_P(KilledUpgrade, IsDoneByTheNextOneAndLosesNothing) {
  kill();
  EXPECT_THAT(version_of(store_.database()), AnyOf(Eq(old_version), Eq(schema_version)));
  if (fs::exists(copy())) expect_backup();
  if (version_of(store_.database()) == old_version) kill();
  if (version_of(store_.database()) != old_version) expect_backup();
  ok({"task", "list"});
  expect_upgraded();
  EXPECT_THAT(others(), testing::ElementsAre("work.db.schema-4")) << "nothing half-done is left";
}

INSTANTIATE_TEST_SUITE_P(At, KilledUpgrade,
                         testing::Values("upgrade_before_backup", "backup_before_rename",
                                         "backup_after_rename", "upgrade_after_backup",
                                         "upgrade_before_commit", "upgrade_after_commit"),
                         [](const auto& point) { return std::string{point.param}; });

}  // namespace
}  // namespace holdfast::test
