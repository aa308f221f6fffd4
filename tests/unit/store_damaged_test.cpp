#include <sqlite3.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "engines/sqlite/engine.hpp"
#include "engines/sqlite/side_files.hpp"
#include "support/temp_store.hpp"

namespace holdfast::sqlite {
namespace {

int root_page(const std::string& database, const char* name) {
  sqlite3* db = nullptr;
  sqlite3_open(database.c_str(), &db);
  sqlite3_stmt* query = nullptr;
  sqlite3_prepare_v2(db, "SELECT rootpage FROM sqlite_schema WHERE name = ?", -1, &query, nullptr);
  sqlite3_bind_text(query, 1, name, -1, SQLITE_STATIC);
  int page = sqlite3_step(query) == SQLITE_ROW ? sqlite3_column_int(query, 0) : 0;
  sqlite3_finalize(query);
  sqlite3_close(db);
  return page;
}

/// Damage that no check saw, because it came after it or lies where none looks.
TEST(StoreDamaged, EndsTheWritesOfThisProcessAndMakesTheNextOneLookAtEverything) {
  test::TempStore folder;
  Settings settings;
  settings.recovery.integrity_check_on_startup = false;
  std::array tasks{NewTask{"mail", "{}"}};
  open_store(folder.database(), settings)->tasks().insert(tasks);
  auto page = root_page(folder.database(), "holdfast_ready");
  ASSERT_GT(page, 1);
  {
    std::fstream file{folder.database(), std::ios::in | std::ios::out | std::ios::binary};
    file.seekp((page - 1) * 4096);
    file.put('\xff');
  }
  {
    auto engine = open_store(folder.database(), settings);
    EXPECT_THROW(engine->tasks().insert(tasks), StoreDamaged);
    EXPECT_THROW(engine->admin().set_paused("default", true, "ada"), StoreDamaged)
        << "what has nothing to do with it might make it worse";
    EXPECT_TRUE(std::filesystem::exists(SideFiles::named(folder.database()).suspect()));
  }
  auto mended = open_store(folder.database(), {});
  EXPECT_NO_THROW(mended->tasks().insert(tasks));
  EXPECT_EQ(mended->admin().count({}), 2);
}

}  // namespace
}  // namespace holdfast::sqlite
