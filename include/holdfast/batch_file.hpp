#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/batch.hpp>
#include <holdfast/settings.hpp>

namespace holdfast {

enum class FileFormat {
  json_lines,  ///< a JSON value on each line; blank lines count, but are no rows
  csv,         ///< names of columns first; each record becomes an object of texts
};

/// What a file that is to become a batch has in it. Lines are counted from 1 as an editor does, so
/// the line of a row is where it stands in the file.
struct FileRows {
  std::vector<BatchRow> rows{};
  /// Lines that are no rows, and why. The others are not worse for them.
  struct Problem {
    int line = 0;
    std::string what{};
  };
  std::vector<Problem> problems{};
  BatchFile file{};
};

/// Reads the content of a file. `name` is only kept. A record of a CSV may have line feeds in
/// quoted fields; its line is then the one that it begins on. A row of more than `most_bytes` is a
/// problem: see `Settings::limits`.
FileRows read_rows(std::string name, std::string_view content, FileFormat format,
                   std::int64_t most_bytes = Settings{}.limits.payload_bytes);

/// `csv` by the end of its name, else JSON Lines.
FileFormat format_of(std::string_view name);

/// The SHA-256 of a content, as text.
std::string checksum_of(std::string_view content);

}  // namespace holdfast
