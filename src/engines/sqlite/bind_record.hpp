#pragma once

#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/table_shape.hpp"

namespace holdfast::sqlite {

/// Binds the values of a row, the first to parameter `first`. They must outlive the next step.
inline void bind_record(Statement& statement, int first, const TableShape& table,
                        std::int64_t rowid, const Record& record) {
  for (std::size_t i = 0; i < record.size(); ++i) {
    int place = first + static_cast<int>(i);
    if (table.columns()[i].is_rowid) {
      statement.bind_from(place, rowid);
    } else if (auto number = std::get_if<std::int64_t>(&record[i])) {
      statement.bind_from(place, *number);
    } else if (auto real = std::get_if<double>(&record[i])) {
      statement.bind_from(place, *real);
    } else if (auto text = std::get_if<std::string>(&record[i])) {
      statement.bind_from(place, *text);
    } else if (auto blob = std::get_if<Blob>(&record[i])) {
      statement.bind_from(place, Bytes{*blob});
    } else {
      statement.bind_from(place, nullptr);
    }
  }
}

}  // namespace holdfast::sqlite
