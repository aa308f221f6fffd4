#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/page_file.hpp"

namespace holdfast::sqlite {

/// What rows of one of our tables look like, so that they can be known when they are found on a
/// page that nothing points to.
class TableShape {
 public:
  struct Column {
    std::string name;
    std::string type;       ///< as declared: INTEGER, TEXT, BLOB, REAL or nothing
    bool is_rowid = false;  ///< stored as NULL; its value is the row's number
    bool optional = false;
    SqlValue otherwise{};  ///< of a row that is from before the column
  };

  TableShape(Connection& db, const std::string& table);

  const std::string& name() const { return name_; }
  const std::vector<Column>& columns() const { return columns_; }
  bool without_rowid() const { return without_rowid_; }
  std::size_t place_of(std::string_view column) const;

  /// The values of a row of this table, one for each column; what is missing because the row is
  /// from before a step that added columns has its default. Nothing if there are too few or too
  /// many of them, or if they cannot be read.
  std::optional<Record> read(Bytes bytes) const;
  /// The same for a row of which only the first values could be read; `there` says how many it has.
  bool may_have(std::size_t there) const { return there >= fewest_ && there <= columns_.size(); }

  /// Whether values can be a row of this table: each is of the right type.
  bool fits(const Record& record) const;

 private:
  std::string name_;
  std::vector<Column> columns_;
  std::size_t fewest_ = 0;
  bool without_rowid_ = false;
};

/// All tables of ours in `db`.
std::vector<TableShape> our_tables(Connection& db);
bool is_ours(std::string_view name);

}  // namespace holdfast::sqlite
