#include "cli/payload_lines.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include <holdfast/error.hpp>

namespace holdfast::cli {

PayloadLines::PayloadLines(const std::string& path) : name_{path} {
  if (path == "-") {
    name_ = "standard input";
    in_ = &std::cin;
    return;
  }
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    throw InvalidRequest{
        fmt::format("{} is a directory; name a file with one JSON payload a line", path)};
  file_.open(path, std::ios::binary);
  if (!file_) throw InvalidRequest{fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  if (std::filesystem::is_regular_file(path, unknown))
    bytes_total_ = static_cast<std::int64_t>(std::filesystem::file_size(path, unknown));
  in_ = &file_;
}

std::optional<std::string> PayloadLines::next() {
  std::string line;
  while (std::getline(*in_, line)) {
    ++line_;
    bytes_read_ += static_cast<std::int64_t>(line.size()) + 1;
    if (line.find_first_not_of(" \t\r") != std::string::npos) return line;
  }
  if (in_->bad()) throw InvalidRequest{fmt::format("cannot read {} beyond line {}", name_, line_)};
  return {};
}

}  // namespace holdfast::cli
