#include <algorithm>

#include <fmt/format.h>

#include "engines/sqlite/bind_record.hpp"
#include "engines/sqlite/foreign_tables.hpp"

namespace holdfast::sqlite {

namespace {

bool make(Connection& db, const std::string& sql) {
  try {
    db.execute(sql);
    return true;
  } catch (const StoreError&) {
    return false;
  }
}

/// Copies the rows of one table; false if some could not be read.
class PageCopy {
 public:
  PageCopy(Connection& db, const std::string& name) : db_{db}, shape_{db, name} {
    Connection::Once query{db, "SELECT count(*) FROM pragma_table_xinfo(?) WHERE hidden <> 0"};
    plain_ = !shape_.without_rowid() && query->bind(name).step() && query->integer(0) == 0;
    for (const auto& column : shape_.columns()) {
      has_alias_ = has_alias_ || column.is_rowid;
      columns_.push_back(quoted(column.name));
    }
  }

  bool run(PageSalvage& pages) {
    if (!plain_) return false;
    bool whole = true;
    std::vector<TableShape> only{shape_};
    auto damaged = pages.each_row(only, [&](const PageSalvage::Row& row) {
      auto record = decode_record(row.record);
      whole = record && record->size() <= columns_.size() && insert(row.rowid, *record) && whole;
    });
    return damaged.empty() && whole;
  }

 private:
  /// A row from before a column was added is shorter.
  bool insert(std::int64_t rowid, const Record& record) {
    std::string names = has_alias_ ? "" : "rowid", places = has_alias_ ? "" : "?";
    for (std::size_t i = 0; i < record.size(); ++i) {
      names += (names.empty() ? "" : ", ") + columns_[i];
      places += places.empty() ? "?" : ", ?";
    }
    Connection::Once statement{db_, fmt::format("INSERT OR IGNORE INTO {} ({}) VALUES ({})",
                                                quoted(shape_.name()), names, places)};
    int first = has_alias_ ? 1 : 2;
    if (!has_alias_) statement->bind(rowid);
    bind_record(*statement, first, shape_, rowid, record);
    return statement->run_if_allowed();
  }

  Connection& db_;
  TableShape shape_;
  std::vector<std::string> columns_;
  bool has_alias_ = false;
  bool plain_ = true;
};

}  // namespace

std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + '"';
}

std::vector<Damage> copy_foreign_pages(Connection& db, PageSalvage& pages) {
  std::vector<Damage> missing;
  auto note = [&](std::string what) { missing.push_back({Damage::Kind::file, std::move(what)}); };
  if (!pages.schema_sound())
    note(
        "The list of tables is damaged: tables that are not Holdfast's may be missing. They are "
        "in the file that was kept.");
  db.execute("BEGIN");
  for (const auto& row : pages.schema()) {
    if (!is_foreign(row) || row.type != "table") continue;
    if (!make(db, row.sql))
      note(fmt::format("Table {}, which is not Holdfast's, could not be made.", row.name));
    else if (row.root != 0 && !PageCopy{db, row.name}.run(pages))
      note(fmt::format("Some rows of table {}, which is not Holdfast's, could not be read.",
                       row.name));
  }
  for (const char* type : {"index", "view", "trigger"})
    for (const auto& row : pages.schema())
      if (is_foreign(row) && row.type == type && !row.sql.empty() && !make(db, row.sql))
        note(fmt::format("The {} {}, which is not Holdfast's, could not be made.", type, row.name));
  db.execute("COMMIT");
  return missing;
}

}  // namespace holdfast::sqlite
