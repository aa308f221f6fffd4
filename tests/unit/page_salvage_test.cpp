#include "engines/sqlite/page_salvage.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include <holdfast/holdfast.hpp>

#include "engines/sqlite/schema.hpp"
#include "support/temp_store.hpp"

namespace holdfast::sqlite {
namespace {

using Found = PageSalvage::Found;

/// A store with tasks whose payloads are from nothing to many pages long, as bytes.
class PageSalvageTest : public testing::Test {
 protected:
  void SetUp() override {
    auto engine = open(store_.address());
    Tasks tasks{engine};
    std::vector<NewTask> some;
    for (int i = 0; i < 600; ++i) {
      auto length = static_cast<std::size_t>(i % 50 == 0 ? i * 40 : i % 70);
      some.push_back({"mail", '"' + std::string(length, 'x') + '"'});
    }
    tasks.enqueue_all(std::move(some));
    Connection db{store_.database(), Connection::Mode::read_write, Durability::crash_safe};
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    shapes_ = our_tables(db);
    auto query = db.use("SELECT seq, payload FROM holdfast_tasks");
    while (query.step()) payloads_[query.integer(0)] = query.text(1);
    root_ = static_cast<std::uint32_t>(
        db.number("SELECT rootpage FROM sqlite_schema WHERE name = 'holdfast_tasks'"));
    std::ifstream file{store_.database(), std::ios::binary};
    bytes_.assign(std::istreambuf_iterator<char>{file}, {});
  }

  /// The payloads of tasks that can be read, by number.
  std::map<std::int64_t, std::string> read(const std::vector<std::uint8_t>& bytes,
                                           Found least = Found::in_tree) {
    std::map<std::int64_t, std::string> found;
    PageFile file{bytes};
    PageSalvage salvage{file};
    auto damaged = salvage.each_row(shapes_, [&](const PageSalvage::Row& row) {
      if (row.table.name() != "holdfast_tasks" || row.found < least) return;
      auto record = decode_record(row.record);
      if (!record || record->size() != row.table.columns().size()) return;
      if (auto text = std::get_if<std::string>(&record->back())) found[row.rowid] = *text;
    });
    sound_ = damaged.empty();
    return found;
  }

  std::uint8_t* page(std::uint32_t number) { return bytes_.data() + (number - 1) * 4096; }

  test::TempStore store_;
  std::vector<TableShape> shapes_;
  std::map<std::int64_t, std::string> payloads_;
  std::vector<std::uint8_t> bytes_;
  std::uint32_t root_ = 0;
  bool sound_ = false;
};

TEST_F(PageSalvageTest, ReadsEveryRowThatSqliteWrote) {
  EXPECT_EQ(read(bytes_), payloads_);
  EXPECT_TRUE(sound_);
}

TEST_F(PageSalvageTest, KnowsEveryTaskFromTheIndexOfIds) {
  PageFile file{bytes_};
  EXPECT_EQ(PageSalvage{file}.indexed_tasks().size(), payloads_.size());
}

TEST_F(PageSalvageTest, FindsRowsWhosePagesAreCutOff) {
  ASSERT_EQ(page(root_)[0], 5) << "the root must be an inner page for this";
  std::fill_n(page(root_), 4096, std::uint8_t{0});
  EXPECT_EQ(read(bytes_, Found::stray), payloads_);
  EXPECT_FALSE(sound_);
}

TEST_F(PageSalvageTest, LosesOneLeafWhereOneLeafIsLost) {
  PageFile file{bytes_};
  auto inner = file.tree_page(root_);
  ASSERT_TRUE(inner);
  auto leaf = file.cell(root_, *inner, inner->cells[1])->child;
  auto on_leaf = file.tree_page(leaf)->cells.size();
  std::fill_n(page(leaf), 4096, std::uint8_t{0xff});
  EXPECT_EQ(read(bytes_).size(), payloads_.size() - on_leaf);
  EXPECT_FALSE(sound_);
}

TEST_F(PageSalvageTest, ReadsTheTablesWithoutTheListOfThem) {
  // The first page: its header, and the top of the list of tables.
  std::fill_n(page(1), 4096, std::uint8_t{0});
  EXPECT_EQ(read(bytes_), payloads_);
}

TEST_F(PageSalvageTest, ComparesContentsWhateverTheIndexesSay) {
  PageFile before{bytes_};
  auto contents = PageSalvage{before}.contents();
  ASSERT_TRUE(contents.at("holdfast_tasks"));
  EXPECT_EQ(contents.at("holdfast_tasks")->rows, 600);
  auto changed = bytes_;
  auto inner = before.tree_page(root_);
  auto leaf = before.cell(root_, *inner, inner->cells[0])->child;
  changed[leaf * 4096 - 1] ^= 1;  // the last byte of a page belongs to its first row
  PageFile after{changed};
  EXPECT_NE(PageSalvage{after}.contents(), contents);
}

TEST_F(PageSalvageTest, NoByteIsTrusted) {
  std::mt19937 dice{20240115};
  auto below = [&](std::size_t limit) { return dice() % limit; };
  for (int round = 0; round < 60; ++round) {
    auto damaged = bytes_;
    // Where structure is, damage does most: the beginnings of pages.
    for (int i = 0; i < 40; ++i) {
      auto at = below(damaged.size() / 4096) * 4096 + below(round % 2 ? 24 : 4096);
      damaged[at] = static_cast<std::uint8_t>(dice());
    }
    if (round % 5 == 0) damaged.resize(below(damaged.size()));
    for (const auto& [seq, payload] : read(damaged)) EXPECT_LE(payload.size(), damaged.size());
  }
}

}  // namespace
}  // namespace holdfast::sqlite
