#include <holdfast/batch_file.hpp>

#include <sodium.h>

#include <optional>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "batches/csv.hpp"
#include "tasks/json_text.hpp"

namespace holdfast {

namespace {

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

void read_json_lines(std::string_view content, FileRows& into) {
  for (int line = 1; !content.empty(); ++line) {
    auto end = content.find('\n');
    auto text = content.substr(0, end);
    content.remove_prefix(end == content.npos ? content.size() : end + 1);
    if (is_blank(text)) continue;
    std::string input{text.substr(0, text.find_last_not_of(" \t\r") + 1)};
    if (auto fault = json_fault(input); !fault.empty())
      into.problems.push_back({line, "not JSON: " + fault});
    else
      into.rows.push_back({line, std::move(input)});
  }
}

/// The record as an object; nothing, and a problem, if it does not fit its header.
void add_record(const CsvRecord& header, const CsvRecord& record, FileRows& into) {
  if (record.fields.size() != header.fields.size()) {
    into.problems.push_back({record.line, fmt::format("{} fields, and the header names {}",
                                                      record.fields.size(), header.fields.size())});
    return;
  }
  boost::json::object object;
  for (std::size_t i = 0; i < record.fields.size(); ++i)
    object[header.fields[i]] = record.fields[i];
  auto input = boost::json::serialize(object);
  // Bytes that are no text would be refused by the store, and take the other rows with them.
  if (auto fault = json_fault(input); !fault.empty())
    into.problems.push_back({record.line, "not text: " + fault});
  else
    into.rows.push_back({record.line, std::move(input)});
}

void read_csv(std::string_view content, FileRows& into) {
  CsvReader reader{content};
  std::optional<CsvRecord> header;
  while (auto record = reader.next()) {
    if (!record->problem.empty())
      into.problems.push_back({record->line, record->problem});
    else if (!header)
      header = std::move(record);
    else
      add_record(*header, *record, into);
  }
}

}  // namespace

FileRows read_rows(std::string name, std::string_view content, FileFormat format) {
  FileRows read;
  read.file = {std::move(name), static_cast<std::int64_t>(content.size()), checksum_of(content),
               format == FileFormat::csv ? "text/csv" : "application/x-ndjson"};
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (content.starts_with(byte_order_mark)) content.remove_prefix(byte_order_mark.size());
  format == FileFormat::csv ? read_csv(content, read) : read_json_lines(content, read);
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
