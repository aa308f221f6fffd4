#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::sqlite {

using Bytes = std::span<const std::uint8_t>;
using Blob = std::vector<std::uint8_t>;
/// A value of a record: NULL, integer, real, text or blob.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string, Blob>;
using Record = std::vector<SqlValue>;

/// 0 if it is none.
inline std::int64_t integer(const SqlValue& value) {
  auto number = std::get_if<std::int64_t>(&value);
  return number ? *number : 0;
}

/// The values of a record in SQLite's format; nothing if its header and its length disagree.
std::optional<Record> decode_record(Bytes bytes);

/// A page of a b-tree, with cells whose places are within the page.
struct TreePage {
  enum class Kind : std::uint8_t {
    inner_index = 2,
    inner_table = 5,
    leaf_index = 10,
    leaf_table = 13,
  };
  Kind kind = Kind::leaf_table;
  std::uint32_t right_child = 0;       ///< inner pages only
  std::vector<std::uint16_t> cells{};  ///< where they begin
  bool sound = true;                   ///< false: some cells were left out, because they cannot be

  bool is_leaf() const { return kind == Kind::leaf_index || kind == Kind::leaf_table; }
  bool is_table() const { return kind == Kind::inner_table || kind == Kind::leaf_table; }
};

/// What a cell holds. Which parts there are depends on the kind of its page.
struct Cell {
  std::uint32_t child = 0;
  std::int64_t rowid = 0;
  Blob payload{};                         ///< whole, collected from the overflow pages
  std::vector<std::uint32_t> overflow{};  ///< the pages that the rest of the payload was on
};

/// A database file as bytes, of which any may be wrong: for saving what SQLite will not read.
/// Nothing that is read from the file is used as a place or a size before it was compared with what
/// there is, and no loop is longer than the file has pages. Pages are numbered from 1.
class PageFile {
 public:
  explicit PageFile(Bytes bytes);

  std::uint32_t page_size() const { return page_size_; }
  std::uint32_t usable_size() const { return usable_; }
  std::uint32_t pages() const { return pages_; }
  /// Empty where there is no such page.
  Bytes page(std::uint32_t number) const;

  std::optional<TreePage> tree_page(std::uint32_t number) const;
  /// Nothing if the cell is not whole: too long, or its overflow pages do not hang together.
  std::optional<Cell> cell(std::uint32_t number, const TreePage& page, std::uint16_t at) const;

  /// The same for a page of other bytes.
  std::optional<Cell> cell_in(Bytes bytes, const TreePage& page, std::uint16_t at) const;

  struct FreeList {
    std::vector<std::uint32_t> pages{};
    bool sound = true;  ///< it hangs together, and has as many pages as the header says
  };
  FreeList free_list() const;

 private:
  bool read_payload(Bytes page, std::size_t at, std::uint64_t length, bool table, Cell& into) const;
  bool read_overflow(std::uint32_t first, std::uint64_t length, Cell& into) const;
  int plausible_pages() const;
  void choose_sizes();

  Bytes bytes_;
  std::uint32_t page_size_ = 4096;
  std::uint32_t usable_ = 4096;
  std::uint32_t pages_ = 0;
};

}  // namespace holdfast::sqlite
