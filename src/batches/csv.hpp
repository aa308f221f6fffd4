#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

struct CsvRecord {
  int line = 0;  ///< that it begins on
  std::vector<std::string> fields{};
  std::string problem{};  ///< why it cannot be read; mostly empty
};

/// Cuts a CSV (RFC 4180) into records. After one that cannot be read it goes on with the next line.
class CsvReader {
 public:
  explicit CsvReader(std::string_view content) : rest_{content} {}
  /// The next record that is not a blank line; nothing: that was all.
  std::optional<CsvRecord> next();

 private:
  bool read_record(CsvRecord& record);
  bool read_quoted(CsvRecord& record, std::string& field);
  void skip_line();

  std::string_view rest_;
  int line_ = 1;
};

}  // namespace holdfast
