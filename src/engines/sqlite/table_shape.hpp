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
  };

  TableShape(Connection& db, const std::string& table);

  const std::string& name() const { return name_; }
  const std::vector<Column>& columns() const { return columns_; }
  bool without_rowid() const { return without_rowid_; }
  std::size_t place_of(std::string_view column) const;

  /// Whether a record can be a row of this table: as many values, each of the right type.
  bool fits(const Record& record) const;

 private:
  std::string name_;
  std::vector<Column> columns_;
  bool without_rowid_ = false;
};

/// All tables of ours in `db`.
std::vector<TableShape> our_tables(Connection& db);
bool is_ours(std::string_view name);

}  // namespace holdfast::sqlite
