#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engines/sqlite/page_file.hpp"

namespace holdfast::sqlite {

/// Walks the trees of a damaged file and keeps account of its pages, so that in the end it is known
/// which pages nobody has claimed. Goes on beside what is damaged.
class TreeWalk {
 public:
  explicit TreeWalk(const PageFile& file);

  /// `rowid` is 0 in index trees. A row of a table whose cell cannot be read is an empty record.
  using OnRecord = std::function<void(std::int64_t rowid, const Blob& record)>;

  /// All records of the tree that can be reached, in the order of keys. False if some cannot: a
  /// page is not what it should be, belongs to another tree as well, or is out of order.
  bool walk(std::uint32_t root, bool table, const OnRecord& on_record);

  /// Records on a leaf that no tree has claimed; false if it is none, or not a whole one.
  bool read_stray(std::uint32_t number, const OnRecord& on_record);

  /// Where the record that was reported last is.
  struct Place {
    std::uint32_t page = 0;
    std::uint16_t cell = 0;
  };
  Place place() const { return place_; }

  bool is_claimed(std::uint32_t number) const { return claimed_[number]; }
  /// Pages on the list of free ones may hold what was deleted long ago: not a source.
  bool free_list_sound() const { return free_list_sound_; }

 private:
  bool claim(std::uint32_t number);
  bool read_cell(std::uint32_t number, const TreePage& page, std::uint16_t at, Cell& into);

  const PageFile& file_;
  std::vector<bool> claimed_;
  bool free_list_sound_ = true;
  Place place_{};
};

/// One entry of the list of tables and indexes.
struct SchemaRow {
  std::string type;  ///< `table`, `index`, `view`, `trigger`
  std::string name;
  std::string table;
  std::uint32_t root = 0;
  std::string sql;
};
std::optional<SchemaRow> as_schema_row(const Record& record);

}  // namespace holdfast::sqlite
