#pragma once

#include <sqlite3.h>

#include <filesystem>

#include <boost/json/parse.hpp>

#include "engines/sqlite/engine.hpp"
#include "scenario/cli_scenario.hpp"
#include "scenario/store_files.hpp"

namespace holdfast::test {

/// What the first one to open a store finds and does.
class StartUps : public CliScenario {
 protected:
  /// Ten tasks, each with a commit of its own that is only in the log, and the store is closed.
  void fill() {
    open_lasting();  // makes the store
    open_lasting();  // and puts that into the database
    for (int i = 0; i < 10; ++i) add({"mail"});
  }
  /// A place within a page, half-way through the log.
  std::uint64_t in_the_middle() const {
    auto scan = log_.scan();
    return scan.offset_of(scan.frames / 2) + 24;
  }
  std::size_t tasks() const { return json({"task", "list"}).size(); }

  StartUp open_lasting() const {
    auto engine = sqlite::open_store(store_.database(), {});
    auto found = engine->take_start_up();
    EXPECT_TRUE(found);
    EXPECT_FALSE(engine->take_start_up()) << "handed over once";
    return found.value_or(StartUp{});
  }

  std::size_t evidence() const {
    std::size_t count = 0;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator{folder() / "evidence", none})
      count += entry.is_directory();
    return count;
  }
  std::filesystem::path folder() const { return store_.database() + ".holdfast"; }

  std::size_t losses_named_by_doctor() const {
    const auto doctor = boost::json::parse(cli({"--json", "doctor"}).out);
    std::size_t named = 0;
    for (const auto& loss : doctor.at("losses").as_array()) named += loss.at("task").is_string();
    return named;
  }

  void expect_read_only() const {
    const Finished add = cli({"task", "add", "mail"});
    EXPECT_EQ(add.ending.code, 3);
    EXPECT_THAT(add.err, testing::HasSubstr("write-ahead log"));
    EXPECT_THAT(add.err, testing::HasSubstr("--accept-loss"));
    EXPECT_EQ(cli({"worker", "run", "--kind", "mail", "--exec", "true"}).ending.code, 3);
    EXPECT_EQ(cli({"queue", "recover"}).ending.code, 3);
    EXPECT_EQ(cli({"task", "list"}).ending.code, 0);
    EXPECT_EQ(cli({"doctor"}).ending.code, 3);
  }
  void expect_normal() const {
    EXPECT_EQ(cli({"doctor"}).ending.code, 0);
    ok({"task", "add", "mail"});
  }

  /// Where a table begins in the database.
  std::uint64_t root_page(const std::string& table) const {
    sqlite3* db = nullptr;
    sqlite3_open_v2(store_.database().c_str(), &db, SQLITE_OPEN_READONLY, nullptr);
    std::uint64_t page = 0;
    auto query = "SELECT rootpage FROM sqlite_schema WHERE name = '" + table + "'";
    auto take = [](void* into, int, char** values, char**) {
      *static_cast<std::uint64_t*>(into) = std::stoull(values[0]);
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(db, query.c_str(), take, &page, nullptr), SQLITE_OK);
    sqlite3_close(db);
    return page;
  }

  StoreFile log_{store_.database() + "-wal"};
};

/// A program of the user's that has the database open.
class OtherProgram {
 public:
  explicit OtherProgram(const std::string& database) {
    EXPECT_EQ(sqlite3_open(database.c_str(), &db_), SQLITE_OK);
    run("SELECT count(*) FROM sqlite_schema");
  }
  ~OtherProgram() { sqlite3_close(db_); }
  OtherProgram(const OtherProgram&) = delete;
  OtherProgram& operator=(const OtherProgram&) = delete;

  void run(const char* sql) {
    EXPECT_EQ(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db_);
  }

 private:
  sqlite3* db_ = nullptr;
};

}  // namespace holdfast::test
