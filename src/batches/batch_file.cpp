#include <holdfast/batch_file.hpp>

#include <sodium.h>

#include <optional>
#include <set>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "batches/csv.hpp"
#include "batches/validate.hpp"

namespace holdfast {

namespace {

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

/// What is wrong with one row must not keep the others out.
void add_row(int line, std::string input, std::int64_t most_bytes, FileRows& into) {
  if (auto fault = input_fault(input, most_bytes); !fault.empty())
    into.problems.push_back({line, std::move(fault)});
  else
    into.rows.push_back({line, std::move(input)});
}

void read_json_lines(std::string_view content, std::int64_t most_bytes, FileRows& into) {
  for (int line = 1; !content.empty(); ++line) {
    auto end = content.find('\n');
    auto text = content.substr(0, end);
    content.remove_prefix(end == content.npos ? content.size() : end + 1);
    if (is_blank(text)) continue;
    add_row(line, std::string{text.substr(0, text.find_last_not_of(" \t\r") + 1)}, most_bytes,
            into);
  }
}

/// The record as an object; nothing, and a problem, if it does not fit its header.
void add_record(const CsvRecord& header, const CsvRecord& record, std::int64_t most_bytes,
                FileRows& into) {
  if (record.fields.size() != header.fields.size()) {
    into.problems.push_back({record.line, fmt::format("{} fields, and the header names {}",
                                                      record.fields.size(), header.fields.size())});
    return;
  }
  boost::json::object object;
  for (std::size_t i = 0; i < record.fields.size(); ++i)
    object[header.fields[i]] = record.fields[i];
  add_row(record.line, boost::json::serialize(object), most_bytes, into);
}

/// Two columns of one name would be one value of an object; a column without a name has none.
std::string header_fault(const CsvRecord& header) {
  std::set<std::string_view> names;
  for (const auto& name : header.fields) {
    if (name.empty()) return "a column without a name";
    if (!names.insert(name).second) return fmt::format("two columns with the name '{}'", name);
  }
  return {};
}

void read_csv(std::string_view content, std::int64_t most_bytes, FileRows& into) {
  CsvReader reader{content};
  std::optional<CsvRecord> header;
  while (auto record = reader.next()) {
    if (!record->problem.empty()) {
      into.problems.push_back({record->line, record->problem});
    } else if (header) {
      add_record(*header, *record, most_bytes, into);
    } else if (auto fault = header_fault(*record); !fault.empty()) {
      into.problems.push_back({record->line, "the header has " + fault});
      return;
    } else {
      header = std::move(record);
    }
  }
}

}  // namespace

FileRows read_rows(std::string name, std::string_view content, FileFormat format,
                   std::int64_t most_bytes) {
  FileRows read;
  read.file = {std::move(name), static_cast<std::int64_t>(content.size()), checksum_of(content),
               format == FileFormat::csv ? "text/csv" : "application/x-ndjson"};
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (content.starts_with(byte_order_mark)) content.remove_prefix(byte_order_mark.size());
  format == FileFormat::csv ? read_csv(content, most_bytes, read)
                            : read_json_lines(content, most_bytes, read);
  return read;
}

FileFormat format_of(std::string_view name) {
  return name.ends_with(".csv") || name.ends_with(".CSV") ? FileFormat::csv
                                                          : FileFormat::json_lines;
}

std::string checksum_of(std::string_view content) {
  unsigned char sum[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(sum, reinterpret_cast<const unsigned char*>(content.data()), content.size());
  std::string text = "sha256:";
  for (auto byte : sum) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace holdfast
