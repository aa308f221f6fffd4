#pragma once

#include <cstdint>
#include <fstream>
#include <istream>
#include <optional>
#include <string>

namespace holdfast::cli {

/// Reads payloads from a file with one JSON document a line; `-` is standard input. Empty lines
/// are skipped.
class PayloadLines {
 public:
  explicit PayloadLines(const std::string& path);

  std::optional<std::string> next();
  /// Of the line that `next` returned last, from 1.
  std::int64_t line() const { return line_; }
  /// How the file is called in messages.
  const std::string& name() const { return name_; }
  std::int64_t bytes_read() const { return bytes_read_; }
  std::int64_t bytes_total() const { return bytes_total_; }  ///< 0: not known

 private:
  std::string name_;
  std::ifstream file_;
  std::istream* in_ = nullptr;
  std::int64_t line_ = 0;
  std::int64_t bytes_read_ = 0;
  std::int64_t bytes_total_ = 0;
};

}  // namespace holdfast::cli
