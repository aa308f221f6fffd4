#include "batches/csv.hpp"

#include <algorithm>

namespace holdfast {

std::optional<CsvRecord> CsvReader::next() {
  while (!rest_.empty() && (rest_.front() == '\n' || rest_.starts_with("\r\n"))) skip_line();
  if (rest_.empty()) return {};
  CsvRecord record{.line = line_};
  auto begin = rest_;
  if (!read_record(record)) {
    rest_ = begin;
    line_ = record.line;
    skip_line();
  }
  return record;
}

void CsvReader::skip_line() {
  auto end = rest_.find('\n');
  rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
  ++line_;
}

bool CsvReader::read_record(CsvRecord& record) {
  while (true) {
    std::string field;
    if (!rest_.empty() && rest_.front() == '"') {
      if (!read_quoted(record, field)) return false;
    } else {
      auto end = std::min(rest_.find_first_of(",\n"), rest_.size());
      field = rest_.substr(0, end);
      rest_.remove_prefix(end);
      if ((rest_.empty() || rest_.front() == '\n') && field.ends_with('\r')) field.pop_back();
    }
    record.fields.push_back(std::move(field));
    if (rest_.empty() || rest_.front() == '\n') {
      skip_line();
      return true;
    }
    rest_.remove_prefix(1);  // the comma
  }
}

bool CsvReader::read_quoted(CsvRecord& record, std::string& field) {
  rest_.remove_prefix(1);
  while (true) {
    auto quote = rest_.find('"');
    if (quote == rest_.npos) {
      record.problem = "a quote that is opened on this line is never closed";
      return false;
    }
    field += rest_.substr(0, quote);
    rest_.remove_prefix(quote + 1);
    if (!rest_.starts_with('"')) break;
    field += '"';
    rest_.remove_prefix(1);
  }
  line_ += static_cast<int>(std::ranges::count(field, '\n'));
  if (rest_.starts_with("\r\n")) rest_.remove_prefix(1);
  if (rest_.empty() || rest_.front() == ',' || rest_.front() == '\n') return true;
  record.problem = "something follows a quoted field";
  return false;
}

}  // namespace holdfast
