#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/ids.hpp>

#include "engines/sqlite/table_shape.hpp"
#include "engines/sqlite/tree_walk.hpp"

namespace holdfast::sqlite {

/// Reads what is left of a damaged file page by page: first along the trees, beside what is
/// damaged in them, then from pages that nothing points to any more.
class PageSalvage {
 public:
  explicit PageSalvage(const PageFile& file);

  enum class Found {
    in_tree,   ///< where it should be
    stray,     ///< on a page that the damage has cut off
    doubtful,  ///< the same, but the page may be one that was free: what it says may be old
  };
  struct Row {
    const TableShape& table;
    std::int64_t rowid = 0;
    const Blob& record;
    Found found = Found::in_tree;
    TreeWalk::Place place{};
    const PageSalvage* source = nullptr;

    /// The cell as it would be if one bit of its beginning were the other way round: its lengths
    /// are there, and with a wrong one the rest makes no sense.
    static constexpr unsigned bits_of_beginning = 128;
    std::optional<Cell> with_flipped(unsigned bit) const;
  };

  const std::vector<SchemaRow>& schema() const { return schema_; }
  bool schema_sound() const { return schema_sound_; }

  /// What tables hold, ours and the user's: that it is the same after an index was made anew is how
  /// we know that this did no harm.
  struct Content {
    std::int64_t rows = 0;
    std::uint64_t sum = 0;  ///< of all rows, in any order
    bool operator==(const Content&) const = default;
  };
  /// Of every table, by name; nothing for a table that cannot be read to its end.
  std::map<std::string, std::optional<Content>> contents();

  /// Calls `on_row` for every record that is, or may be, a row of one of `tables`. Rows of a tree
  /// come before strays. Returns the names of tables of which some pages could not be read.
  std::set<std::string> each_row(const std::vector<TableShape>& tables,
                                 const std::function<void(Row)>& on_row);

  /// The tasks that the index of ids knows, with their numbers. It survives damage of the table.
  std::vector<std::pair<TaskId, std::int64_t>> indexed_tasks();
  /// Calls `on_entry` for the entries of an index; false if it cannot be read to its end.
  bool each_entry(std::string_view index, const std::function<void(const Record&)>& on_entry);

 private:
  void read_schema();
  std::uint32_t root_of(std::string_view name) const;
  void walk_others(TreeWalk& walk, const std::vector<TableShape>& tables) const;
  void each_stray(TreeWalk& walk, const std::vector<TableShape>& tables,
                  const std::function<void(Row)>& on_row) const;

  const PageFile& file_;
  std::vector<SchemaRow> schema_;
  bool schema_sound_ = true;
};

}  // namespace holdfast::sqlite
