#include "engines/sqlite/table_shape.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "engines/sqlite/schema.hpp"

namespace holdfast::sqlite {

namespace {

constexpr std::size_t id_bytes = 16;

bool fits_column(const TableShape::Column& column, const SqlValue& value) {
  if (column.is_rowid || std::holds_alternative<std::monostate>(value))
    return std::holds_alternative<std::monostate>(value) && (column.is_rowid || column.optional);
  if (column.type == "INTEGER") return std::holds_alternative<std::int64_t>(value);
  if (column.type == "TEXT") return std::holds_alternative<std::string>(value);
  if (column.type == "REAL")
    return std::holds_alternative<double>(value) || std::holds_alternative<std::int64_t>(value);
  if (column.type == "BLOB") {
    // All blobs that we keep are ids, but for the bodies of messages.
    auto blob = std::get_if<Blob>(&value);
    return blob && (blob->size() == id_bytes || column.name == "body");
  }
  return true;
}

/// A default, as the list of columns has it.
SqlValue value_of(Connection& db, const std::string& sql) {
  Connection::Once value{db, "SELECT " + sql};
  value->step();
  if (value->is_null(0)) return std::monostate{};
  if (value->is_integer(0)) return value->integer(0);
  if (value->is_text(0)) return value->text(0);
  return value->real(0);
}

}  // namespace

TableShape::TableShape(Connection& db, const std::string& table) : name_{table} {
  {
    Connection::Once kind{db, "SELECT wr FROM pragma_table_list WHERE name = ?"};
    kind->bind(table);
    without_rowid_ = kind->step() && kind->integer(0) != 0;
  }
  Connection::Once query{
      db, "SELECT name, type, \"notnull\", pk, dflt_value FROM pragma_table_info(?) ORDER BY cid"};
  query->bind(table);
  int keys = 0;
  while (query->step()) {
    Column column{query->text(0), query->text(1)};
    column.is_rowid = query->integer(3) == 1 && column.type == "INTEGER" && !without_rowid_;
    keys += query->integer(3) > 0;
    column.optional = query->integer(2) == 0 && query->integer(3) == 0;
    if (auto sql = query->text(4); !sql.empty()) column.otherwise = value_of(db, sql);
    columns_.push_back(std::move(column));
  }
  fewest_ = first_columns_of(table).value_or(columns_.size());
  // Only where it is the whole key it is another name for the row's number.
  if (keys > 1) std::ranges::for_each(columns_, [](Column& one) { one.is_rowid = false; });
}

std::size_t TableShape::place_of(std::string_view column) const {
  auto found = std::ranges::find(columns_, column, &Column::name);
  if (found == columns_.end())
    throw StoreError{fmt::format("table {} has no column {}", name_, column)};
  return static_cast<std::size_t>(found - columns_.begin());
}

std::optional<Record> TableShape::read(Bytes bytes) const {
  auto record = decode_record(bytes);
  if (!record || !may_have(record->size())) return {};
  for (auto at = record->size(); at < columns_.size(); ++at)
    record->push_back(columns_[at].otherwise);
  return record;
}

bool TableShape::fits(const Record& record) const {
  if (record.size() != columns_.size()) return false;
  for (std::size_t i = 0; i < record.size(); ++i)
    if (!fits_column(columns_[i], record[i])) return false;
  return true;
}

std::vector<TableShape> our_tables(Connection& db) {
  std::vector<std::string> names;
  {
    Connection::Once query{db,
                           "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid"};
    while (query->step())
      if (is_ours(query->text(0))) names.push_back(query->text(0));
  }
  std::vector<TableShape> tables;
  for (const auto& name : names) tables.emplace_back(db, name);
  return tables;
}

bool is_ours(std::string_view name) { return name.starts_with("holdfast_"); }

}  // namespace holdfast::sqlite
